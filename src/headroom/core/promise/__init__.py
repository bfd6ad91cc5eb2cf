"""Calculate how many slots a promise needs: history in, size out."""
