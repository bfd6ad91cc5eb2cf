"""The pure part of the dialect: values and decisions, no JSON and no libraries."""
