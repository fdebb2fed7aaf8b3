"""The commands about studies, labs and plans."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from replicalab import scenarios
from replicalab.assessment import Assessment, assess, assumed_effects, size_text
from replicalab.cli import asking, commands
from replicalab.documents import BUNDLE, ENDINGS, FORMS, REPORTS, Report, today
from replicalab.facts import comparison, records
from replicalab.facts import options as texts
from replicalab.facts.blocks import Block, Heading, Sentence, Verdict, row, table
from replicalab.facts.check import YOURS, check_panel, cost_panel, effects_table, evidence_panel
from replicalab.facts.lab import amounts_text, lab_text, own_values
from replicalab.facts.original import original_panel
from replicalab.facts.plan import asked_text
from replicalab.facts.verdicts import plan_verdict
from replicalab.lexicon import joined
from replicalab.limits import MOST_SIDES
from replicalab.negotiation import negotiate
from replicalab.negotiation.case import FEWEST_SIDES, Case, Side, negotiated, side_of_run
from replicalab.planner import PlanAnalysis
from replicalab.planner.curves import Curves
from replicalab.scenarios import EvidenceTier, Pack, Study

Blocks = Iterator[Block | str | None]


def place_text(pack: Pack) -> str:
    return " · ".join(filter(None, (pack.paper.name, lab_text(pack), asked_text(pack))))


def signed(verdict: Verdict) -> Sentence:
    return Sentence(verdict.text, status=verdict.status)


def opening(plan: Assessment) -> Blocks:
    """Yield a plan's study, lab and size, then its verdict."""
    yield f"{place_text(plan.pack)} · {size_text(plan)}"
    yield signed(plan_verdict(plan))


@commands.command("as_json", codes="0", example="--json")
def studies(_: commands.Options) -> commands.Answer:
    """List the studies."""
    for error in scenarios.broken_scenarios():
        commands.say(str(error))
    rows = [*map(records.study_row, scenarios.list_scenarios())]
    names = ("id", "name", "domain", "kind", "n")
    listed = table("Studies", names, [[str(study[name]) for name in names] for study in rows])
    return commands.Answer(0, [listed], lambda: {"studies": rows})


@commands.command(
    *(*commands.LAB, "save"),
    codes="0",
    example="psy_stroop --set own_lab.currency=EUR --set own_lab.rates.per_sample=4",
)
def lab(options: commands.Options) -> commands.Answer:
    """Show a lab, and save its own values as a lab file."""
    study, _ = asking.study_at(options.study)
    case = asking.case_of(options, study, options.lab, {})
    pack, original = asking.pack_of(case, study), scenarios.pack_of(study, case.lab, case.seed)
    own_texts = (value.text for value in own_values(original, pack))
    blocks = [place_text(pack), amounts_text(pack.lab), *own_texts]
    return commands.Answer(0, blocks, lambda: records.place(pack), scenarios.lab_json(pack.own_lab))


@commands.command(
    *commands.PLAN, codes="0 if it passes, 1 if not", example="psy_stroop --lab hard --samples 60"
)
def check(options: commands.Options) -> commands.Answer:
    """Check a plan against its lab in seven dimensions, with its cost and evidence."""
    analysis, _ = asking.analysis(options)
    plan = analysis.yours
    panels = check_panel(plan, analysis.binding), cost_panel(plan), evidence_panel({YOURS: plan})
    effects = effects_table(assumed_effects(plan.pack.design), {YOURS: plan})
    blocks = [*opening(plan), *panels, effects, original_panel(Curves(plan))]
    return commands.Answer(0 if plan.feasible else 1, blocks, lambda: records.checked(analysis))


@commands.command(
    *commands.PLAN, "save", codes="0 if its plan is worth running, 1 if not", example="psy_stroop"
)
def plan(options: commands.Options) -> commands.Answer:
    """Find the plan with the least loss, change by change, and what the lab lacks."""
    analysis, _ = asking.analysis(options)
    loss = analysis.least
    shows = loss.after.evidence.tier is not EvidenceTier.BELOW_FLOOR
    code = 0 if loss.after.feasible and shows else 1
    file = scenarios.plan_json(loss.plan, analysis.yours.pack.scenario_id)
    blocks = [*opening(analysis.yours), *texts.plan_blocks(analysis)]
    return commands.Answer(code, blocks, lambda: records.planned(analysis), file)


_NAMED: Final[dict[str, Callable[[PlanAnalysis], Assessment]]] = {
    "study": lambda options: options.yours,
    "offer": lambda options: options.offered,
    "least-loss": lambda options: options.least.after,
}


@commands.command(
    *("study", "plans", "labs", *commands.LAB[2:]),
    codes="0",
    example="psy_stroop --plan study --plan least-loss",
)
def compare(options: commands.Options) -> commands.Answer:
    """Compare two to four plans, differences first."""
    plans, labs = options.plans or ["study"], options.labs or ["medium"]
    number = len(plans) * len(labs)
    if not FEWEST_SIDES <= number <= MOST_SIDES:
        remedy = f"name {FEWEST_SIDES} to {MOST_SIDES} with --plan and --lab"
        raise commands.CommandError(f"{number} of plan and lab are named; {remedy}")
    study, _ = asking.study_at(options.study)
    sides = []
    for lab in labs:
        pack = asking.pack_of(asking.case_of(options, study, lab, {}), study)
        for name in plans:
            titles = [Path(commands.called(Path(name))).stem] if len(plans) > 1 else []
            titles += [lab_text(pack)] if len(labs) > 1 or not titles else []
            sides.append(_side(", ".join(titles), name, pack, study))
    return commands.Answer(0, _compare_blocks(sides), lambda: {"sides": [*map(_side_facts, sides)]})


def _side(title: str, name: str, pack: Pack, study: Study) -> Side:
    if choose := _NAMED.get(name):
        plan = choose(PlanAnalysis(assess(pack.reference_protocol, pack)))
        return Side(title, plan, negotiated(plan))
    path = Path(name)
    if not (path.suffix or name == commands.STANDARD or path.exists()):
        asking.choice("--plan", name, [*_NAMED])
    run = asking.run_at(path, study)
    if run and run.pack == pack:
        return side_of_run(title, run)
    plan = assess(asking.plan_at(path, study), pack)
    return Side(title, plan, negotiated(plan))


def _compare_blocks(sides: Sequence[Side]) -> Blocks:
    yield sides[0].plan.pack.paper.name
    names = ("", *(side.name for side in sides))
    for title, lines in comparison.parts(sides).items():
        yield Heading(title)
        yield table(title, names, [row(line.label, *line.cells) for line in lines])


def _side_facts(side: Side) -> records.Data:
    played, judged = side.played, comparison.judged_text(side)
    checked = records.checked(PlanAnalysis(side.plan))
    return {"name": side.name, "judged": judged, **checked, "negotiated": played and played.outcome}


@commands.command(
    *(*commands.PLAN, "kind", "answers", "negotiated", "date", "paper", "save"),
    codes="0",
    example="psy_stroop --kind brief --date 2026-01-31",
)
def report(options: commands.Options) -> commands.Answer:
    """Write a brief, a funding request, a report or a registration form; as JSON the bundle."""
    asking.choice("--kind", options.kind, REPORTS)
    ending = _report_ending(options)
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
    blocks = () if options.save else made.document.blocks
    return commands.Answer(0, blocks, lambda: json.loads(made.form(BUNDLE)), file)


def _report_ending(options: commands.Options) -> str:
    named = options.save is not None and str(options.save) != commands.STANDARD
    ending = options.save.suffix.lower()[1:] if options.save and named else "md"
    if ending not in ENDINGS:
        remedy = f"end its name in {joined([f'.{text}' for text in ENDINGS], 'or')}"
        raise commands.CommandError(f"--save '{options.save}': no such form; {remedy}")
    if ending == BUNDLE and options.kind in {"brief", "funding"}:
        problem = f"--kind {options.kind}: a bundle is no document"
        raise commands.CommandError(f"{problem}; omit it, or save another form")
    if options.paper and not (ending in FORMS and FORMS[ending].feature):
        problem = f"--paper {options.paper}: .{ending} has no pages"
        raise commands.CommandError(f"{problem}; save a PDF or Word file, or omit it")
    return ending
