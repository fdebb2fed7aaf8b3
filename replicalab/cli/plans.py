"""The commands about studies, labs and single plans."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Final

from rich.console import RenderableType

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment, assess, size_text
from replicalab.case import MOST_SIDES, in_labs_of
from replicalab.cli import asking, facts
from replicalab.cli.files import STANDARD, called, content, fills_standard_output, written
from replicalab.cli.printing import Answer, CommandError, say
from replicalab.comparison import FEWEST_SIDES, Side, negotiated, side_of_run
from replicalab.critique import RemarkStanding
from replicalab.critique import critique as remarks_on
from replicalab.lexicon import amount_text
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.planner.curves import Curves
from replicalab.render import terminal
from replicalab.scenarios import (
    EvidenceTier,
    Guesser,
    Pack,
    broken_scenarios,
    lab_json,
    list_scenarios,
    pack_of,
    plan_json,
)
from replicalab.tables.rows import study_row
from replicalab.views import comparison
from replicalab.views import options as texts
from replicalab.views.blocks import Column, Table, row, table
from replicalab.views.changes import all_changes, change_text, revision_text
from replicalab.views.check import YOURS, check_panel, cost_panel, evidence_panel
from replicalab.views.critique import critique_blocks
from replicalab.views.lab import amounts_text, lab_text, own_values
from replicalab.views.original import original_panel
from replicalab.views.plan import asked_text
from replicalab.views.verdicts import ANSWERS, answer_to, plan_verdict

Lines = Iterator[RenderableType]


def where(pack: Pack) -> str:
    """Return the study, its lab and the user's question."""
    return " · ".join(filter(None, (pack.paper.name, lab_text(pack), asked_text(pack))))


def opening(plan: Assessment) -> Lines:
    """Yield a plan's study, lab and size, then its verdict."""
    verdict = plan_verdict(plan)
    yield f"{where(plan.pack)} · {size_text(plan)}"
    yield terminal.signed(verdict.status, verdict.text)


# --- studies and labs ---------------------------------------------------------------------------


def studies(asked: SimpleNamespace) -> Answer:
    """Return the studies; a message names each unreadable file."""
    shelf = list_scenarios()
    for error in broken_scenarios():
        say(str(error))
    if asked.domain is not None:
        domains = sorted({study.domain_id for study in shelf})
        asking.choice("--domain", asked.domain, domains)
        shelf = [study for study in shelf if study.domain_id == asked.domain]
    rows = [
        (s.scenario_id, s.name, s.domain_id, str(s.kind), amount_text(s.reference_sample_size))
        for s in shelf
    ]
    listed = table("Studies", ("Id", "Name", "Field", "Kind", Column("n", "number")), rows)
    return Answer(0, terminal.rendered(listed), lambda: {"studies": [*map(study_row, shelf)]})


def lab(asked: SimpleNamespace) -> Answer:
    """Return the means of a lab and its differences from the study's."""
    study, _ = asking.study_at(asked.study)
    case = asking.case_of(asked, study)
    pack, original = case.pack(in_labs_of(study)), pack_of(study, case.lab, case.seed)
    saved = written(asked.save, lab_json(pack.own_lab)) if asked.save else ""
    changes = [value.text for value in own_values(original, pack)]
    lines = [where(pack), *terminal.rendered(amounts_text(pack.lab), *changes), saved]
    data = {**facts.place(pack), "values": pack.lab.model_dump(mode="json")}
    return Answer(0, filter(None, lines), lambda: data, fills_standard_output(asked))


# --- one plan -----------------------------------------------------------------------------------


def check(asked: SimpleNamespace) -> Answer:
    """Return the check of a plan."""
    options = asking.analysis(asked)
    code = 0 if options.yours.feasible else 1
    return Answer(code, _check_lines(options), lambda: facts.checked(options))


def _check_lines(options: PlanAnalysis) -> Lines:
    plan = options.yours
    yield from opening(plan)
    panels = (
        check_panel(plan, options.binding),
        cost_panel(plan),
        evidence_panel({YOURS: plan}),
        original_panel(Curves(plan)),
    )
    yield from terminal.rendered(*filter(None, panels))


def critique(asked: SimpleNamespace) -> Answer:
    """Return a reviewer's questions."""
    plan = asking.analysis(asked).yours
    remarks = remarks_on(plan, asking.registration(asked))
    code = 1 if any(each.standing is RemarkStanding.CONCERN for each in remarks) else 0
    lines = [*opening(plan)]
    for block in critique_blocks(remarks):
        if isinstance(block, Table) and block.rows:
            lines.append(terminal.heading(block.caption))
        lines += terminal.rendered(block)
    return Answer(code, lines, lambda: facts.critiqued(plan, remarks))


def plan(asked: SimpleNamespace) -> Answer:
    """Return the changes to a plan and the additions to its lab."""
    options = asking.analysis(asked)
    least, study = options.least, options.yours.pack.scenario_id
    is_silent = fills_standard_output(asked)
    saved = written(asked.save, plan_json(least.plan, study)) if asked.save else ""
    shows = least.after.evidence.tier is not EvidenceTier.BELOW_FLOOR
    code = 0 if least.after.feasible and shows else 1
    return Answer(code, _plan_lines(options, saved), lambda: facts.planned(options), is_silent)


def _plan_lines(options: PlanAnalysis, saved: str) -> Lines:
    least, offer = options.least, options.offer
    yield from opening(options.yours)
    yield from filter(None, [texts.first_of_all(options)])
    if offer:
        yield terminal.heading("The Lab Manager's changes")
        yield from terminal.rendered(ANSWERS[answer_to(options)].text)
        yield from _changes(options, offer.after, offer.changes)
    yield terminal.heading("The least-loss plan")
    summary = texts.difference_text(options), texts.search_text(options)
    yield from terminal.rendered(*filter(None, summary))
    if not least.after.evidence.void_reason:
        yield from _changes(options, least.after, least.changes)
    yield from terminal.rendered(texts.take_panel(options))
    yield from ["", saved] if saved else []


def _changes(
    options: PlanAnalysis, after: Assessment, changes: Iterable[SuggestionChange]
) -> Lines:
    """Yield a revised plan, then each change with its price and its reason."""
    made = all_changes(options.yours, changes, options.known)
    if not made:
        return
    whole = revision_text(PlanStep(options.yours, after))
    sign = terminal.SIGNS[plan_verdict(after).status]
    summary = f"{sign}: {whole.size}", whole.still, whole.breaks, whole.total
    yield from terminal.rendered(*filter(None, summary))
    for change in map(change_text, made):
        yield from terminal.rendered(f"{change.number}. {change.title}", f"   {change.price}")
        yield from terminal.rendered(f"   {change.why} {change.lost}".rstrip())


# --- several plans ------------------------------------------------------------------------------

_NAMED: Final[dict[str, Callable[[PlanAnalysis], Assessment]]] = {
    "study": lambda options: options.yours,
    "offer": lambda options: options.offered,
    "least-loss": lambda options: options.least.after,
}


def compare(asked: SimpleNamespace) -> Answer:
    """Return plans next to each other."""
    plans, labs = asked.plan or ["study"], asked.lab or ["medium"]
    number = len(plans) * len(labs)
    if not FEWEST_SIDES <= number <= MOST_SIDES:
        remedy = f"name {FEWEST_SIDES} to {MOST_SIDES} with --plan and --lab"
        raise CommandError(f"{number} of plan and lab are named; {remedy}")
    sides = [
        _side(name, asking.pack(asked, lab), many=len(plans) > 1, labs=len(labs) > 1)
        for lab in labs
        for name in plans
    ]
    return Answer(0, _compare_lines(sides), lambda: {"sides": [*map(_side_facts, sides)]})


def _side(name: str, pack: Pack, *, many: bool, labs: bool) -> Side:
    parts = [Path(called(name)).stem if many else "", lab_text(pack) if labs or not many else ""]
    title = ", ".join(filter(None, parts))
    if choose := _NAMED.get(name):
        plan = choose(PlanAnalysis(assess(pack.reference_protocol, pack)))
        return Side(title, plan, negotiated(plan))
    path = Path(name)
    if not (path.suffix or name == STANDARD or path.exists()):
        remedy = Guesser().remedy(name, [*_NAMED])
        raise CommandError(f"--plan '{name}' is no plan and no file; {remedy}")
    run = asking.run_in(content(path), path, pack)
    if run and run.pack == pack:
        return side_of_run(title, run)
    plan = assess(asking.plan_at(path, pack), pack)
    return Side(title, plan, negotiated(plan))


def _compare_lines(sides: Sequence[Side]) -> Lines:
    yield sides[0].plan.pack.paper.name
    names = ("", *(side.name for side in sides))
    for title, lines in comparison.parts(sides).items():
        rows = [row(line.label, *line.cells) for line in lines]
        yield terminal.heading(title)
        yield from terminal.rendered(table(title, names, rows))


def _side_facts(side: Side) -> dict[str, object]:
    played = side.played
    outcome = str(played.outcome) if played and played.outcome else None
    data = facts.checked(PlanAnalysis(side.plan))
    judged = comparison.judged_text(side)
    return {"name": side.name, "judged": judged, **data, "negotiated": outcome}
