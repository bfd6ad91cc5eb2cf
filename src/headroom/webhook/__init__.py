"""The optional admission webhook: the claim gate for clusters without MutatingAdmissionPolicy."""
