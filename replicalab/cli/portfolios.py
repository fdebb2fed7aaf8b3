"""``portfolio``: which of several studies one lab runs with one budget, and which plan of each."""

from collections.abc import Sequence
from math import isfinite
from types import SimpleNamespace
from typing import Final

from replicalab import scenarios
from replicalab.case import Case, in_labs_of
from replicalab.cli import asking, facts
from replicalab.cli.printing import Answer, CommandError
from replicalab.lexicon import shortened
from replicalab.planner import ChosenStudy, Portfolio, PortfolioStudy, portfolio_of
from replicalab.planner.portfolio import MOST_WORTH
from replicalab.render import terminal
from replicalab.views import portfolio as texts

# The means that studies share, each with an example.
_SHARED: Final = {"budget": 2500, "days": 12, "staff": 4}


def _worth(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not name or not (isfinite(number) and 0 <= number <= MOST_WORTH):
        problem = f"--worth '{shortened(text)}' is no study with a number from 0 to {MOST_WORTH:,}"
        raise CommandError(f"{problem}; write one such as psy_stroop=2")
    return name.strip(), number


def portfolio(asked: SimpleNamespace) -> Answer:
    """Return the studies of the budget, and the omitted ones."""
    found = portfolio_of(_candidates(asked))
    code = 1 if found.left_out else 0
    return Answer(code, terminal.rendered(texts.portfolio_panel(found)), lambda: _facts(found))


def _candidates(asked: SimpleNamespace) -> list[PortfolioStudy]:
    studies = [asking.study_at(name)[0] for name in asked.study]
    worths = _worths(asked, studies)
    return [
        PortfolioStudy(
            _pack(asking.case_of(asked, study), study, len(studies)),
            worths.get(name, 1.0),
            asked.floor_share,
        )
        for name, study in zip(asked.study, studies, strict=True)
    ]


def _worths(asked: SimpleNamespace, studies: Sequence[scenarios.Study]) -> dict[str, float]:
    """Return what each study that is named counts, by the name by which it is asked for."""
    by_id = {s.scenario_id: name for name, s in zip(asked.study, studies, strict=True)}
    found: dict[str, float] = {}
    for name, number in map(_worth, asked.worth or ()):
        called = name if name in asked.study else by_id.get(name)
        if called is None:
            remedy = scenarios.Guesser().remedy(name, [*by_id])
            raise CommandError(f"--worth '{shortened(name)}' is none of the studies; {remedy}")
        if called in found:
            raise CommandError(f"--worth '{shortened(name)}' is given twice; give it once")
        found[called] = number
    return found


def _pack(case: Case, study: scenarios.Study, number: int) -> scenarios.Pack:
    own = case.own_lab
    for field, example in _SHARED.items():
        if getattr(own, field) is None and number > 1:
            remedy = f"the studies share it; add --set own_lab.{field}={example}"
            raise CommandError(f"own_lab.{field} is not set; {remedy}")
    start = own.model_copy(update={"start_day": own.start_day or 1})
    return case.changed(own_lab=start).pack(in_labs_of(study))


def _facts(found: Portfolio) -> dict[str, object]:
    return {
        "proven": found.exact,
        "ends_first": found.ends_first,
        "worth": found.worth,
        "most_worth": found.most,
        "credits": found.credits,
        "budget": found.budget,
        "fidelity_loss": found.loss,
        "last_day": found.last,
        "most_staff": found.most_staff,
        "studies": [_chosen(each) for each in found.chosen],
        "left_out": [
            {
                "id": found.candidates[each.place].pack.scenario_id,
                "lacks": each.lacking.name.lower(),
                "credits": each.credits,
                "equipment": [*each.instruments],
                "text": texts.left_out_text(each, found),
            }
            for each in found.left_out
        ],
        "more": [
            {
                "credits": rise.more,
                "worth": rise.worth,
                "proven": rise.exact,
                "added": _ids(found, rise.added),
                "gone": _ids(found, rise.gone),
                "raised": _ids(found, rise.raised),
                "text": texts.rise_text(rise, found),
            }
            for rise in found.rises
        ],
    }


def _chosen(each: ChosenStudy) -> dict[str, object]:
    pack = each.plan.pack
    days = {"first_day": each.first, "last_day": each.last, "worth": each.worth}
    return {"id": pack.scenario_id, "study": pack.paper.name, **days, **facts.plan(each.plan)}


def _ids(found: Portfolio, places: Sequence[int]) -> list[str]:
    return [found.candidates[at].pack.scenario_id for at in places]
