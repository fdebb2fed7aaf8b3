"""``report``: a plan as a page for a decider or a funder, or a report for a preregistration."""

import argparse
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final, get_args

from replicalab.api.documents import BUNDLE, ENDINGS, Report
from replicalab.case import Case
from replicalab.cli import asking
from replicalab.cli.check import heading
from replicalab.cli.files import STANDARD, written
from replicalab.cli.printing import Answer, CommandError
from replicalab.documents import FORMS
from replicalab.lexicon import joined
from replicalab.negotiation import negotiate
from replicalab.registration import PROFILES
from replicalab.render import terminal
from replicalab.views.blocks import Paper
from replicalab.views.verdicts import plan_verdict

ABOUT: Final = "A plan as a brief, a funding request, a report, or a registration form filled in."
CODES: Final = "0 once it is made"
EXAMPLES: Final = (
    "report psy_stroop --date 2026-01-31 --brief",
    "report phys_millikan --date 2026-01-31 --funding",
    "report psy_stroop --plan plan.json --date 2026-01-31 --save report.html",
    "report psy_stroop --registration brandt-prereg-2 --date 2026-01-31 --save recipe.json",
    "report psy_stroop --negotiated --date 2026-01-31 --save bundle.json",
)
_FORMS: Final = [*PROFILES]
_PAGED: Final = [f".{ending}" for ending, form in FORMS.items() if form.is_paged]
_SUFFIXES: Final = ", ".join(f".{ending}" for ending in ENDINGS)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_case(parser)
    group = parser.add_argument_group("document")
    group.add_argument("--brief", action="store_true", help="the brief in place of the report")
    group.add_argument(
        "--funding",
        action="store_true",
        help="one page for a funder in its place: the plan, what each cut costs, what the target "
        "takes",
    )
    group.add_argument(
        "--negotiated",
        action="store_true",
        help="with the negotiation that opens with the plan, and about the plan that it comes to; "
        "a bundle (.json) keeps the plan that it opens with",
    )
    group.add_argument(
        "--registration",
        choices=PROFILES,
        metavar="FORM",
        help=f"in its place {joined(_FORMS, 'or')}",
    )
    asking.add_answers(group)
    group.add_argument("--date", type=day, metavar="DAY", help="that it bears (default: today)")
    group.add_argument("--form", choices=ENDINGS, help="in place of the ending of the file's name")
    group.add_argument(
        "--save",
        metavar="FILE",
        type=Path,
        help=f"as {_SUFFIXES}, by its name; without it, Markdown is told",
    )
    group.add_argument(
        "--paper", choices=get_args(Paper), help=f"of {joined(_PAGED)} (default: A4)"
    )


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
    ending = _ending(asked)
    page = _page(asked)
    if page and asked.registration:
        what = f"--registration {asked.registration}"
        raise CommandError(f"{what} is another document; leave {page} out")
    if asked.brief and asked.answers:
        raise CommandError(f"--answers '{asked.answers}' is not of the brief; leave --brief out")
    options = asking.analysis(asked)
    pack = options.yours.pack
    case = Case.of(pack, options.yours.plan)
    run = negotiate(case.setup(pack), pack) if asked.negotiated else None
    profile = PROFILES[asked.registration] if asked.registration else None
    said = asking.answers(asked)
    made = Report(
        *(options, run),
        on=asked.date,
        brief=asked.brief,
        funding=asked.funding,
        profile=profile,
        said=said,
    )
    saved = written(asked.save, made.form(ending, asked.paper or "A4")) if asked.save else ""
    return Answer(0, _lines(made, ending, saved), lambda: json.loads(made.form(BUNDLE)))


def _page(asked: argparse.Namespace) -> str:
    """Return the option of the page that takes the report's place; empty where none does.

    Raises:
        CommandError: both are asked for.
    """
    pages = [f"--{name}" for name in ("brief", "funding") if getattr(asked, name)]
    if len(pages) > 1:
        raise CommandError("--brief and --funding are two documents; ask for one")
    return pages[0] if pages else ""


def _ending(asked: argparse.Namespace) -> str:
    """Return the form in which the document is saved or told.

    Raises:
        CommandError: it has none, or not that one.
    """
    if asked.form and not asked.save:
        remedy = f"name one with --save, or {STANDARD} for standard output"
        raise CommandError(f"--form {asked.form}: no file is named; {remedy}")
    has_name = asked.save and str(asked.save) != STANDARD
    named = asked.save.suffix.lower().removeprefix(".") if has_name else "md"
    ending: str = asked.form or named
    if ending not in ENDINGS:
        problem = f"--save '{asked.save}': no such form"
        raise CommandError(f"{problem}; end its name in {_SUFFIXES}")
    if asked.paper and f".{ending}" not in _PAGED:
        remedy = f"end the file's name in {joined(_PAGED, 'or')}, or leave it out"
        raise CommandError(f"--paper {asked.paper}: .{ending} has no pages; {remedy}")
    if (page := _page(asked)) and ending == BUNDLE:
        raise CommandError(f"{page} '{asked.save}': a bundle is no document; leave {page} out")
    return ending


def _lines(made: Report, ending: str, saved: str) -> Iterator[str]:
    if not saved:
        yield from str(made.form("md")).splitlines()
        return
    plan = (made.options if ending == BUNDLE else made.shown).yours
    yield heading(plan)
    yield terminal.verdict_line(plan_verdict(plan))
    yield from ("", saved)
