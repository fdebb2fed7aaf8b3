"""``report``: a plan as a page for a decider or a funder, or a report for a preregistration."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Final, get_args

from rich.console import RenderableType

from replicalab.case import Case
from replicalab.cli import asking
from replicalab.cli.files import STANDARD, fills_standard_output, written
from replicalab.cli.plans import opening
from replicalab.cli.printing import Answer, CommandError
from replicalab.documents import BUNDLE, ENDINGS, FORMS, Report, today
from replicalab.lexicon import joined
from replicalab.negotiation import negotiate
from replicalab.registration import PROFILES, Registration
from replicalab.views.blocks import Paper

_PAGED: Final = [f".{ending}" for ending, form in FORMS.items() if form.is_paged]
_SUFFIXES: Final = ", ".join(f".{ending}" for ending in ENDINGS)


def report(asked: SimpleNamespace) -> Answer:
    """Return the document, or as JSON its bundle."""
    ending, page = _ending(asked), _page(asked)
    if asked.registration:
        asking.choice("--registration", asked.registration, [*PROFILES])
    if page and asked.registration:
        name = f"--registration {asked.registration}"
        raise CommandError(f"{name} is another document; omit {page}")
    if asked.brief and asked.answers:
        raise CommandError(f"--answers '{asked.answers}' is not for the brief; omit --brief")
    options = asking.analysis(asked)
    pack = options.yours.pack
    setup = Case.of(pack, options.yours.plan).setup(pack)
    made = Report(
        options,
        negotiate(setup, pack) if asked.negotiated else None,
        asked.registration or page.removeprefix("--") or "report",
        asked.date.date() if asked.date else today(),
        asking.registration(asked) or Registration(),
    )
    saved = written(asked.save, made.form(ending, asked.paper or "A4")) if asked.save else ""
    is_silent = fills_standard_output(asked)
    return Answer(0, _lines(made, ending, saved), lambda: json.loads(made.form(BUNDLE)), is_silent)


def _page(asked: SimpleNamespace) -> str:
    """Return the option of another page than the report; empty without one.

    Raises:
        CommandError: both are asked for.
    """
    pages = [f"--{name}" for name in ("brief", "funding") if getattr(asked, name)]
    if len(pages) > 1:
        raise CommandError("--brief and --funding are two documents; ask for one")
    return pages[0] if pages else ""


def _ending(asked: SimpleNamespace) -> str:
    """Return the form of the document.

    Raises:
        CommandError: it has none, or not that one.
    """
    if asked.form and not asked.save:
        remedy = f"name one with --save, or {STANDARD} for standard output"
        raise CommandError(f"--form {asked.form}: no file is named; {remedy}")
    has_name = asked.save and str(asked.save) != STANDARD
    named = asked.save.suffix.lower().removeprefix(".") if has_name else "md"
    ending: str = asked.form or named
    if asked.form:
        asking.choice("--form", asked.form, [*ENDINGS])
    if asked.paper:
        asking.choice("--paper", asked.paper, get_args(Paper))
    if ending not in ENDINGS:
        problem = f"--save '{asked.save}': no such form"
        raise CommandError(f"{problem}; end its name in {_SUFFIXES}")
    if asked.paper and f".{ending}" not in _PAGED:
        remedy = f"end the file's name in {joined(_PAGED, 'or')}, or omit it"
        raise CommandError(f"--paper {asked.paper}: .{ending} has no pages; {remedy}")
    if (page := _page(asked)) and ending == BUNDLE:
        raise CommandError(f"{page} '{asked.save}': a bundle is no document; leave {page} out")
    return ending


def _lines(made: Report, ending: str, saved: str) -> Iterator[RenderableType]:
    if not saved:
        yield from str(made.form("md")).splitlines()
        return
    plan = (made.options if ending == BUNDLE else made.shown).yours
    yield from opening(plan)
    yield from ("", saved)
