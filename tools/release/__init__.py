"""Everything that a release has, built the same from the same sources (`make release`).

`archives` writes tar files, `sbom` the bill of materials from the lock files, `provenance` what it
was made from. `signing` signs with a key that you give; `verify` checks a release without the
network. Nothing is uploaded.
"""
