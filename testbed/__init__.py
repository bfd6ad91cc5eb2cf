"""A real Kubernetes control plane as plain processes on loopback, for tests, benchmarks and play.

`binaries` finds or builds what runs, `controlplane` runs it, `play` starts one for people
(`make cluster`). Nothing of this ships with headroom, so it stands beside `src/` and uses the
standard library only: it must work before anything is installed.
"""
