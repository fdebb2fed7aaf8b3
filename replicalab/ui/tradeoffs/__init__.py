"""The Trade-offs page: the region of a plan, the lab's levers, and the plans that nothing beats."""
