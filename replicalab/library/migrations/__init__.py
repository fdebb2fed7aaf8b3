"""Migrations of the library."""
