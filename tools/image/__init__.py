"""An OCI image of the operator, built without a container engine and without a registry of images.

`packages` fetches pinned Debian packages (Python and the libraries that it needs), `wheels` the
pinned wheels and our own, `layers` writes them as tar files that are the same every time, `oci`
puts an image layout around them. `python -m tools.image` does it all (`make image`).
"""
