"""ValidatingAdmissionPolicies: what our accounts may do, and which names tenants may not use."""
