"""Tables that arrive and leave: a lab's inventory, and any table, as CSV or Excel."""

from replicalab.tables.inventory import SUFFIXES, inventory_template, read_inventory
from replicalab.tables.leaving import Value, csv_file, excel_file
from replicalab.tables.sheet import sheet

__all__ = [
    "SUFFIXES",
    "Value",
    "csv_file",
    "excel_file",
    "inventory_template",
    "read_inventory",
    "sheet",
]
