"""What only shows, as HTML: one panel each, from Jinja2 templates that escape all they are given.

A panel is semantic elements and text; `STYLE` is drawn once by whoever shows some of them.
"""

from __future__ import annotations

from replicalab.panels.batch import shares_panel
from replicalab.panels.comparison import comparison_panel
from replicalab.panels.drawing import STAGE_STYLE, STYLE, in_notebook
from replicalab.panels.kinds import kind_panel
from replicalab.panels.lab import inventory_panel, take_panel
from replicalab.panels.numbers import numbers_style
from replicalab.panels.plan import (
    Changed,
    check_panel,
    cost_panel,
    evidence_panel,
    header_panel,
    revision_panel,
    sentences_panel,
)
from replicalab.panels.present import Slide
from replicalab.panels.scenarios import (
    card_panel,
    field_name,
    idea_panel,
    labs_panel,
    legend_panel,
)
from replicalab.panels.study import (
    design_panel,
    lab_panel,
    paper_panel,
    rules_panel,
    story_panel,
    substitutions_panel,
)
from replicalab.panels.survey import survey_panel
from replicalab.panels.tradeoffs import (
    Rows,
    effects_panel,
    listed_panel,
    over_panel,
    tables_panel,
)

__all__ = [
    "STAGE_STYLE",
    "STYLE",
    "Changed",
    "Rows",
    "Slide",
    "card_panel",
    "check_panel",
    "comparison_panel",
    "cost_panel",
    "design_panel",
    "effects_panel",
    "evidence_panel",
    "field_name",
    "header_panel",
    "idea_panel",
    "in_notebook",
    "inventory_panel",
    "kind_panel",
    "lab_panel",
    "labs_panel",
    "legend_panel",
    "listed_panel",
    "numbers_style",
    "over_panel",
    "paper_panel",
    "revision_panel",
    "rules_panel",
    "sentences_panel",
    "shares_panel",
    "story_panel",
    "substitutions_panel",
    "survey_panel",
    "tables_panel",
    "take_panel",
]
