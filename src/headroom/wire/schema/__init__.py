"""The fields of objects: declared in a small notation, from which checks and CRDs are made.

`notation` reads it, `own` has our kinds in it, `validation` compares objects with it (`scalars`
their single values), `structural` turns it into the schema of a CRD.
"""
