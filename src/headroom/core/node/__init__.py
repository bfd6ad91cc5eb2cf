"""A node, frozen, and the decisions that are made from it."""
