"""ValidatingAdmissionPolicies that hold each account to its work, and tenants off our names."""
