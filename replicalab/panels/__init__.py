"""What only shows, as HTML: one panel each, from Jinja2 templates that escape all they are given.

A panel is semantic elements and text; `STYLE` is drawn once by whoever shows some of them.
"""

from __future__ import annotations

from replicalab.panels.drawing import STYLE
from replicalab.panels.lab import take_panel
from replicalab.panels.plan import (
    Changed,
    check_panel,
    cost_panel,
    evidence_panel,
    header_panel,
    revision_panel,
    sentences_panel,
)
from replicalab.panels.tradeoffs import (
    Rows,
    effects_panel,
    listed_panel,
    spot_panel,
    tables_panel,
)

__all__ = [
    "STYLE",
    "Changed",
    "Rows",
    "check_panel",
    "cost_panel",
    "effects_panel",
    "evidence_panel",
    "header_panel",
    "listed_panel",
    "revision_panel",
    "sentences_panel",
    "spot_panel",
    "tables_panel",
    "take_panel",
]
