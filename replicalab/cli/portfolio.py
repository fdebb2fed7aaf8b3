"""``portfolio``: which of several studies one lab runs with one budget, and which plan of each."""

import argparse
from argparse import ArgumentTypeError
from collections.abc import Sequence
from math import isfinite
from typing import Final

from replicalab import scenarios
from replicalab.case import Case, in_labs_of
from replicalab.cli import asking, facts
from replicalab.cli.lab_options import between
from replicalab.cli.printing import Answer, CommandError
from replicalab.lexicon import shortened
from replicalab.planner import ChosenStudy, Portfolio, PortfolioStudy, portfolio_of
from replicalab.planner.portfolio import MOST_WORTH
from replicalab.render import terminal
from replicalab.views import portfolio as texts

ABOUT: Final = "Which of several studies one lab runs with one budget, and which plan of each."
CODES: Final = "0 where every study named is run, 1 where one is left out"
EXAMPLES: Final = (
    "portfolio psy_stroop ml_rl_seeds chem_suzuki_ppb --budget 2500 --days-available 12 --staff 4",
    "portfolio psy_stroop ml_rl_seeds --budget 1200 --days-available 12 --staff 4 "
    "--worth psy_stroop=2 --floor-share 0.5 --json",
)
# What one lab has one of, and what says it.
_SHARED: Final = {"budget": "budget", "days": "days-available", "staff": "staff"}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_study(parser, "+")
    parser.add_argument(
        "--worth",
        action="append",
        default=[],
        type=_worth,
        metavar="STUDY=NUMBER",
        help="what a plan counts that meets this study's target (default: 1); again for each",
    )
    parser.add_argument(
        "--floor-share",
        default=0.0,
        type=between(0, 1, "write one such as 0.5"),
        metavar="SHARE",
        help="the share of that which a plan counts that only reaches the floor (default: 0)",
    )
    asking.add_lab(parser)


def _worth(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not name or not (isfinite(number) and 0 <= number <= MOST_WORTH):
        problem = f"'{shortened(text)}' is no study with a number from 0 to {MOST_WORTH:,}"
        raise ArgumentTypeError(f"{problem}; write one such as psy_stroop=2")
    return name.strip(), number


def answer(asked: argparse.Namespace) -> Answer:
    """Return which studies are run, and what is left out."""
    found = portfolio_of(_candidates(asked))
    code = 1 if found.left_out else 0
    return Answer(code, terminal.lines(texts.portfolio_panel(found)), lambda: _facts(found))


def _candidates(asked: argparse.Namespace) -> list[PortfolioStudy]:
    studies = [asking.study_at(name)[0] for name in asked.study]
    worths = _worths(asked, studies)
    own = asking.own_lab(asked, studies)
    for field, option in _SHARED.items():
        if getattr(own, field) is None and len(studies) > 1:
            raise CommandError(f"--{option} is not given; give what the studies share")
    own = own.model_copy(update={"start_day": own.start_day or 1})
    return [
        PortfolioStudy(_pack(asked, study, own), worths.get(name, 1.0), asked.floor_share)
        for name, study in zip(asked.study, studies, strict=True)
    ]


def _worths(asked: argparse.Namespace, studies: Sequence[scenarios.Study]) -> dict[str, float]:
    """Return what each study that is named counts, by the name by which it is asked for."""
    by_id = {s.scenario_id: name for name, s in zip(asked.study, studies, strict=True)}
    found: dict[str, float] = {}
    for name, number in asked.worth:
        called = name if name in asked.study else by_id.get(name)
        if called is None:
            remedy = scenarios.Guesser().remedy(name, [*by_id])
            raise CommandError(f"--worth '{shortened(name)}' is none of the studies; {remedy}")
        if called in found:
            raise CommandError(f"--worth '{shortened(name)}' is given twice; give it once")
        found[called] = number
    return found


def _pack(
    asked: argparse.Namespace, study: scenarios.Study, own: scenarios.LabOverrides
) -> scenarios.Pack:
    return Case(
        study=study.scenario_id,
        lab=scenarios.Difficulty(asked.lab),
        seed=asked.seed,
        own_lab=own,
        question=asking.question(asked, study),
    ).pack(in_labs_of(study))


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
