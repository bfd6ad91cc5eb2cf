"""The parts of an installation: pods, rights, the webhook, the page.

`wire.manifests` puts them together.
"""
