"""Tables that arrive and leave: a lab's inventory, and any table, as CSV or Excel."""

import os

# openpyxl uses lxml if installed; the standard parser limits the expansion of entities.
# It reads this setting once, at import.
os.environ.setdefault("OPENPYXL_LXML", "False")

from replicalab.tables.inventory import inventory_template, read_inventory, read_items
from replicalab.tables.reading import SUFFIXES, Table, read_table
from replicalab.tables.sheet import Value, frame, sheet, undated, workbook
