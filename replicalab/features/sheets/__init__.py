"""A lab's list of items from CSV or Excel: read, checked cell by cell, and taken into the lab."""
