"""Tables that arrive and leave: a lab's inventory, and any table, as CSV or Excel."""

from replicalab.tables.inventory import inventory_template, read_inventory
from replicalab.tables.opening import SUFFIXES
from replicalab.tables.sheet import Value, sheet, workbook
