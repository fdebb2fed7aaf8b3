"""The library's versions, and what brings one to the next."""
