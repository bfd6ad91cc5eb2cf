"""Scripts for developers; they are not part of a release."""
