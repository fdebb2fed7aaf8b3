"""Settings that hold for every test."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("replicalab", deadline=None, database=None)
settings.load_profile("replicalab")
