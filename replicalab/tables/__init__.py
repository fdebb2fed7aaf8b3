"""Tables that arrive and leave: a lab's inventory as CSV or Excel, and any table as CSV."""

from replicalab.tables.inventory import SUFFIXES, inventory_template, read_inventory
from replicalab.tables.sheet import sheet

__all__ = ["SUFFIXES", "inventory_template", "read_inventory", "sheet"]
