"""Studies and labs, as a script names them and a notebook shows them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from replicalab import scenarios
from replicalab.api.shown import Shown
from replicalab.assessment import assess as judged
from replicalab.lexicon import CREDITS, amount_text, count_text
from replicalab.scenarios.folders import content_at
from replicalab.tables import rows
from replicalab.views.blocks import Block, listed_panel, plain_table
from replicalab.views.lab import MEANS, MONEY, RATES, STEPS, amounts_text, in_currency, lab_text
from replicalab.views.study import lab_panel, paper_panel

if TYPE_CHECKING:
    import pandas as pd


class Studies(Shown, tuple[scenarios.ScenarioSummary, ...]):
    """Studies, by domain and then by id."""

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each study."""
        return rows.frame(rows.STUDY, map(rows.study_row, self))

    def _line(self) -> str:
        return ", ".join(each.scenario_id for each in self) or "none"

    def _blocks(self) -> tuple[Block, ...]:
        lines = [
            (s.scenario_id, s.name, s.domain_id, s.kind, str(s.reference_sample_size)) for s in self
        ]
        names = ("id", "name", "domain", "kind", "n")
        return (plain_table("Studies", names, lines),)


def studies(domain: str | None = None) -> Studies:
    """Return what is known of every study on the shelf, or of those of one domain.

    >>> [study.scenario_id for study in studies("psychology")]
    ['psy_ego_depletion', 'psy_stroop']
    """
    return Studies(s for s in scenarios.list_scenarios() if domain in (None, s.domain_id))


class Lab(Shown, scenarios.LabOverrides):
    """What is said of a lab in place of a study's: what is not said stays as it is there.

    Its fields: name, budget, days, staff, start_day, currency, start_date, weekends, rates, steps,
    items.

    >>> ours = Lab(name="Ours", budget=2000, start_day=2)
    >>> assess(load("psy_stroop", own=ours)).slack["budget"].slack
    400.0
    """

    def _line(self) -> str:
        return ", ".join(filter(None, (self.name, count_text(self.changes, "change"))))

    def _blocks(self) -> tuple[Block, ...]:
        numbers = {
            **{label: getattr(self, name) for name, label in MEANS.items()},
            **{label: self.rates.get(name) for name, label in (RATES | MONEY).items()},  # type: ignore[call-overload]
            **{label: self.steps.get(name) for name, label in STEPS.items()},  # type: ignore[call-overload]
        }
        currency = self.currency or CREDITS
        lines = [
            f"{in_currency(label, currency)}: {amount_text(n)}"
            for label, n in numbers.items()
            if n is not None
        ]
        lines += [f"Currency: {self.currency}"] if self.currency else []
        lines += [f"Start date: {self.start_date}"] if self.start_date else []
        lines += ["Weekends do not count"] if self.weekends is False else []
        lines += [f"{item.label}: {item.state or 'its own price'}" for item in self.items]
        return (listed_panel(self.name or "Your lab", lines),)


class LoadedPack(Shown, scenarios.Pack):
    """A study in one lab."""

    def _line(self) -> str:
        return f"{self.paper.name}, {lab_text(self)}: {amounts_text(self.lab)}"

    def _blocks(self) -> tuple[Block, ...]:
        return paper_panel(self), lab_panel(judged(self.reference_protocol, self))


def load(
    study: str | Path,
    lab: str = "medium",
    seed: int = 0,
    *,
    own: scenarios.LabOverrides | None = None,
    question: scenarios.EvidenceAssumptions | None = None,
) -> LoadedPack:
    """Return a study, by id or by the path of its file, in its easy, medium or hard lab.

    A seed that is not 0 moves the lab; `own` changes the lab, `question` the evidence target.

    >>> load("psy_stroop", lab="hard").lab.budget
    620.0
    """
    name = str(study)
    if isinstance(study, Path) or "." in name or os.sep in name:  # no id has either
        path = Path(study)
        pack = scenarios.pack_of(
            scenarios.parse_study(content_at(path), path.name), difficulty(lab), seed
        )
    else:
        pack = scenarios.load_scenario(name, lab, seed)
    # A transcript compares labs, and knows no other kind of them.
    own_lab = (
        scenarios.LabOverrides()
        if own is None
        else scenarios.LabOverrides.model_validate(dict(own))
    )
    pack = pack.with_own(own_lab, scenarios.EvidenceAssumptions() if question is None else question)
    return LoadedPack.model_construct(**dict(pack))


def difficulty(lab: str) -> scenarios.Difficulty:
    """Return one of the three labs by its name."""
    try:
        return scenarios.Difficulty(lab)
    except ValueError:
        raise ValueError(
            f"lab '{lab}' is unknown; known: {', '.join(scenarios.Difficulty)}"
        ) from None
