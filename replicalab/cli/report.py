"""``report``: a plan as a one-page brief, or as a report fit for a preregistration."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab.case import Case
from replicalab.cli import asking
from replicalab.cli.check import heading
from replicalab.cli.printing import Answer, CommandError, written
from replicalab.documents import FORMS
from replicalab.negotiation import Negotiation, negotiate
from replicalab.planner import Aim, PlanAnalysis
from replicalab.render import terminal
from replicalab.scenarios import Pack, pack_of
from replicalab.views.verdicts import plan_verdict

if TYPE_CHECKING:
    from replicalab.report import Document

ABOUT: Final = "A plan as a brief of one page, or as a report fit for a preregistration."
CODES: Final = "0 once it is made"
EXAMPLES: Final = (
    "report psy_stroop --date 2026-01-31 --brief",
    "report psy_stroop --plan plan.json --date 2026-01-31 --save report.html",
    "report psy_stroop --negotiated --date 2026-01-31 --save bundle.json",
)


class _Made(NamedTuple):
    """A document, and what it is made of.

    Attributes:
        options: the plan that was asked for.
        study: the lab as the study's author wrote it.
        run: the negotiation that opens with it, None for none.
        shown: the plan of the document: what the negotiation came to, of a bundle its own.
        document: about that.
    """

    options: PlanAnalysis
    study: Pack
    run: Negotiation | None
    shown: PlanAnalysis
    document: Document

    def form(self, suffix: str) -> str | bytes:
        """Return it in one of the forms."""
        from replicalab import report  # noqa: PLC0415 - Jinja2, with the first document

        if suffix == ".json":
            return report.bundle(self.options, self.study, self.run)
        return FORMS[suffix.removeprefix(".")].make(self.document)


SUFFIXES: Final = (*(f".{ending}" for ending in FORMS), ".json")
"""What is saved, by the ending of the file's name; JSON is the bundle that replays."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_case(parser)
    group = parser.add_argument_group("document")
    group.add_argument("--brief", action="store_true", help="the brief in place of the report")
    group.add_argument(
        "--negotiated",
        action="store_true",
        help="with the negotiation that opens with the plan, and about the plan that it comes to",
    )
    group.add_argument("--date", type=day, metavar="DAY", help="that it bears (default: today)")
    group.add_argument(
        "--save",
        metavar="FILE",
        type=Path,
        help=f"as {', '.join(SUFFIXES)}, by its name; without it, Markdown is told",
    )
    asking.add_aim(parser)


def day(text: str) -> date:
    """Return the day that a text names."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no day; write one such as 2026-01-31"
        ) from None


def answer(asked: argparse.Namespace) -> Answer:
    """Return the document; as JSON the bundle that it is of."""
    suffix = asked.save.suffix.lower() if asked.save else ".md"
    if suffix not in SUFFIXES:
        forms = ", ".join(SUFFIXES)
        raise CommandError(f"--save '{asked.save}': no such form; end its name in {forms}")
    if asked.brief and suffix == ".json":
        raise CommandError(f"--brief '{asked.save}': a bundle is no document; leave --brief out")
    aim = asking.aim(asked)
    if aim and (asked.brief or suffix == ".json"):
        other = "--brief" if asked.brief else f"--save '{asked.save}'"
        raise CommandError(f"--reach {aim.goal} is of the report alone; leave {other} out")
    made = _made(asked, suffix, aim)
    saved = written(asked.save, made.form(suffix)) if asked.save else ""
    return Answer(0, _lines(made, saved), lambda: json.loads(made.form(".json")))


def _made(asked: argparse.Namespace, suffix: str, aim: Aim | None) -> _Made:
    from replicalab import report  # noqa: PLC0415 - as above

    options = asking.analysis(asked)
    pack = options.yours.pack
    study = pack_of(pack.study, pack.difficulty, pack.seed)
    case = Case.of(pack, options.yours.plan)
    run = negotiate(case.setup(pack), pack) if asked.negotiated else None
    on = asked.date or datetime.now(UTC).astimezone().date()
    make = report.brief if asked.brief else partial(report.report, aim=aim)
    shown = options if suffix == ".json" else report.of_run(options, run)
    return _Made(options, study, run, shown, make(shown, on=on, written=study, run=run))


def _lines(made: _Made, saved: str) -> Iterator[str]:
    if not saved:
        yield from str(made.form(".md")).splitlines()
        return
    yield heading(made.shown.yours)
    yield terminal.verdict_line(plan_verdict(made.shown.yours))
    yield from ("", saved)
