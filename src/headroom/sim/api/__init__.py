"""The embedded API server: kinds, storage, admission, pod rules, patches and watch feeds."""
