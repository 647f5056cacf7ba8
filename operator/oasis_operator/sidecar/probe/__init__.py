"""The probe sidecar: prepares the nested cluster, observes it and stops the clock."""
