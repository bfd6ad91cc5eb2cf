"""The Helm chart, written from the same objects that `headroom install` applies.

`variants` asks for the installation under every combination of switches that matters to an object,
`merging` folds the answers into one tree with conditions, `conditions` writes a condition in few
words, `writing` prints the tree as a template. `values` is the table of all values, with defaults
and schema. `python -m tools.chart` (`make chart`) writes `deploy/chart`; a test fails while the
two differ. NOTES, helpers and the objects of Prometheus and Grafana are written by hand.
"""
