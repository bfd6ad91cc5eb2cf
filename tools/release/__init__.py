"""Everything that a release has, built the same from the same sources (`make release`).

`archives` writes tar files, `sbom` the bill of materials from the lock files, `provenance` what it
was made from. Nothing is signed and nothing is uploaded: that needs keys and places of your own.
"""
