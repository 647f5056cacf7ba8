"""kopf glue: turns watch events into keys of the reconcile queue, and outcomes into events and metrics."""
