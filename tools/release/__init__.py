"""All files of a release, reproducible from the same sources (`make release`).

`archives` writes tar files, `sbom` the bill of materials from the lock files, `provenance` the
sources of the release. `signing` signs with a given key; `verify` checks a release without the
network. Nothing is uploaded.
"""
