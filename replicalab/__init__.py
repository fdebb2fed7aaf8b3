"""ReplicaLab: what a lab can run of a published experiment, and what each cut costs."""
