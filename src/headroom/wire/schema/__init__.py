"""Which fields objects have: written in a small notation, checked here, made into CRDs for others.

`notation` reads it, `own` has our kinds in it, `validation` compares objects with it (`scalars`
their single values), `structural` turns it into the schema of a CRD.
"""
