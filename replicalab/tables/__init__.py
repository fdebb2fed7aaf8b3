"""Tables that arrive and leave: a lab's inventory, and any table, as CSV or Excel."""

import os

# Where lxml is installed openpyxl would hand a workbook's parts to it, another parser than the one
# whose bounds are tested. It asks once, when it is imported.
os.environ.setdefault("OPENPYXL_LXML", "False")

from replicalab.tables.inventory import (
    has_template_columns,
    inventory_template,
    open_inventory,
    read_inventory,
)
from replicalab.tables.mapped import ReadRow, items_of, read_rows
from replicalab.tables.opening import SUFFIXES, ItemTable, OpenFile, open_file
from replicalab.tables.proposal import Questions, Words, proposed_columns, proposed_table, questions
from replicalab.tables.row_reader import too_many
from replicalab.tables.sheet import Value, sheet, undated, workbook
