"""``report``: a plan as a page for a decider or a funder, or a report for a preregistration."""

import json

from replicalab.case import Case
from replicalab.cli import asking
from replicalab.cli.commands import PLAN, Options, command
from replicalab.cli.plans import Blocks
from replicalab.cli.printing import STANDARD, Answer, CommandError
from replicalab.documents import BUNDLE, ENDINGS, FORMS, REPORTS, Report, today
from replicalab.lexicon import joined
from replicalab.negotiation import negotiate
from replicalab.views.blocks import Heading


@command(
    *(*PLAN, "kind", "answers", "negotiated", "date", "paper", "save"),
    codes="0",
    example="psy_stroop --kind brief --date 2026-01-31",
)
def report(options: Options) -> Answer:
    """Write a brief, a funding request, a report or a registration form; as JSON the bundle."""
    asking.choice("--kind", options.kind, REPORTS)
    ending = _ending(options)
    analysis, case = asking.analysis(options, registration=asking.answers(options))
    pack = analysis.yours.pack
    setup = Case.of(pack, analysis.yours.plan).setup(pack)
    made = Report(
        analysis,
        negotiate(setup, pack) if options.negotiated else None,
        options.kind,
        options.date.date() if options.date else today(),
        case.registration,
    )
    file = made.form(ending, options.paper or "A4") if options.save else ""
    blocks = () if options.save else _blocks(made)
    return Answer(0, blocks, lambda: json.loads(made.form(BUNDLE)), file)


def _ending(options: Options) -> str:
    """Return the form of the document by the ending of its file."""
    named = options.save is not None and str(options.save) != STANDARD
    ending = options.save.suffix.lower()[1:] if options.save and named else "md"
    if ending not in ENDINGS:
        remedy = f"end its name in {joined([f'.{known}' for known in ENDINGS], 'or')}"
        raise CommandError(f"--save '{options.save}': no such form; {remedy}")
    if ending == BUNDLE and options.kind in {"brief", "funding"}:
        problem = f"--kind {options.kind}: a bundle is no document"
        raise CommandError(f"{problem}; omit it, or save another form")
    if options.paper and not (ending in FORMS and FORMS[ending].is_paged):
        problem = f"--paper {options.paper}: .{ending} has no pages"
        raise CommandError(f"{problem}; save a PDF or Word file, or omit it")
    return ending


def _blocks(made: Report) -> Blocks:
    document = made.document
    yield Heading(document.title)
    yield document.about
    for part in document.parts:
        yield Heading(part.title)
        yield from part.blocks
    yield from document.foot
