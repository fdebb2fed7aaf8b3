"""Tables that arrive and leave: a lab's inventory as CSV or Excel."""

from replicalab.tables.inventory import SUFFIXES, inventory_template, read_inventory

__all__ = ["SUFFIXES", "inventory_template", "read_inventory"]
