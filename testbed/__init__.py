"""A real Kubernetes control plane as plain processes on loopback, for tests, benchmarks and trials.

`binaries` finds or builds the programs, `controlplane` runs them, `play` starts one for people
(`make cluster`). Nothing of this ships with headroom, so it is outside `src/` and uses only the
standard library: it must work before anything is installed.
"""
