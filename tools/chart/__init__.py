"""The Helm chart, generated from the objects that `headroom install` applies.

`variants` builds the installation for every combination of switches that affects an object,
`merging` merges the results into one tree with conditions, `conditions` simplifies a condition,
`writing` prints the tree as a template. `values` is the table of all values, with defaults and
schema. `python -m tools.chart` (`make chart`) writes `deploy/chart`; a test fails while the two
differ. NOTES, helpers and the objects for Prometheus and Grafana are written by hand.
"""
