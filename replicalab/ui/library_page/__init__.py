"""Saved entries on the pages, and the Library page."""
