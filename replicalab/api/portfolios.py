"""Many studies, one budget: which one lab runs, and which plan of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from replicalab import planner, scenarios
from replicalab.api.shown import OneLine, page
from replicalab.errors import PortfolioError
from replicalab.lexicon import shortened
from replicalab.tables import rows

if TYPE_CHECKING:
    import pandas as pd


class Portfolio(OneLine, planner.Portfolio):
    """The studies that one lab runs with one budget, and what is left out."""

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each study that is run, by its first day."""
        return rows.frame(rows.PORTFOLIO, map(rows.portfolio_row, self.chosen))

    def _line(self) -> str:
        from replicalab.views.portfolio import summary_text  # noqa: PLC0415

        return summary_text(self)

    def _repr_html_(self) -> str:
        from replicalab.views.portfolio import portfolio_panel  # noqa: PLC0415

        return page(portfolio_panel(self))


def portfolio(
    packs: Iterable[scenarios.Pack],
    *,
    budget: float | None = None,
    days: int | None = None,
    staff: int | None = None,
    worth: Mapping[str, float] | None = None,
    floor_share: float = 0.0,
) -> Portfolio:
    """Return the studies, and the plan of each, that are worth the most in one lab.

    Args:
        packs: what `load` returned, of each study.
        budget: what the studies share; None is what their labs have, the same in all.
        days: the lab's, counted from its first day, likewise.
        staff: staff units, likewise.
        worth: what a plan counts that meets its study's target, by the study's id; 1 where nothing
            is given.
        floor_share: the share of that which a plan counts that only reaches its floor.

    Raises:
        PortfolioError: the labs are not the same, a number is out of range, or a worth is given of
            a study that is not among them.

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
