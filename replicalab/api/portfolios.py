"""Many studies, one budget: which one lab runs, and which plan of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from replicalab import planner, scenarios
from replicalab.api.shown import Shown
from replicalab.errors import PortfolioError
from replicalab.lexicon import shortened
from replicalab.tables import rows
from replicalab.views.blocks import Block
from replicalab.views.portfolio import portfolio_panel, summary_text

if TYPE_CHECKING:
    import pandas as pd


class Portfolio(Shown, planner.Portfolio):
    """The studies that one lab runs with one budget, and what is left out."""

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each study that is run, by its first day."""
        return rows.frame(rows.PORTFOLIO, map(rows.portfolio_row, self.chosen))

    def _line(self) -> str:
        return summary_text(self)

    def _blocks(self) -> tuple[Block, ...]:
        return (portfolio_panel(self),)


def portfolio(
    packs: Iterable[scenarios.Pack],
    *,
    budget: float | None = None,
    days: int | None = None,
    staff: int | None = None,
    worth: Mapping[str, float] | None = None,
    floor_share: float = 0.0,
) -> Portfolio:
    """Return the studies, with a plan each, that are worth the most in one lab.

    Args:
        packs: the studies in their labs.
        budget: the shared budget; None takes the labs' own, which must be equal.
        days: the lab's days, likewise.
        staff: staff units, likewise.
        worth: the worth of a study that meets its target, by its id; 1 by default.
        floor_share: the share of that worth for a plan that only reaches its floor.

    >>> names = "psy_stroop", "ml_rl_seeds", "chem_suzuki_ppb"
    >>> found = portfolio(map(load, names), budget=2500, days=12, staff=4)
    >>> [(each.plan.pack.scenario_id, each.first, each.last) for each in found.chosen]
    [('psy_stroop', 2, 2), ('chem_suzuki_ppb', 3, 5)]
    >>> found.rises[0].more, found.exact
    (160.0, True)
    """
    held, said = list(packs), worth or {}
    for name in said.keys() - {pack.scenario_id for pack in held}:
        known = ", ".join(dict.fromkeys(pack.scenario_id for pack in held)) or "none"
        raise PortfolioError(
            f"worth '{shortened(str(name))}': no such study is among them; name one of: {known}"
        )
    means = _means(budget, days, staff)
    candidates = [
        planner.PortfolioStudy(
            pack.in_lab(pack.lab.model_copy(update={**means, "expected": None})),
            said.get(pack.scenario_id, 1.0),
            floor_share,
        )
        for pack in held
    ]
    found = planner.portfolio_of(candidates)
    return Portfolio(**vars(found))


def _means(budget: float | None, days: int | None, staff: int | None) -> dict[str, float | int]:
    """Return what is said of the lab, of numbers that a lab may have."""
    given = {"budget": budget, "days": days, "staff": staff}
    said = {name: value for name, value in given.items() if value is not None}
    for name, value in said.items():
        try:
            scenarios.LabOverrides.model_validate({name: value})
        except ValueError:
            problem = f"{name} {value!r} is no number that a lab has"
            remedy = f"write a whole one from 1 to {scenarios.MOST:,}"
            raise PortfolioError(f"{problem}; {remedy}") from None
    return {name: float(value) if name == "budget" else value for name, value in said.items()}
