"""The commands about studies, labs, plans and negotiations."""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext, suppress
from itertools import product
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from replicalab import features, lexicon, negotiation, scenarios
from replicalab.assessment import Assessment, assess, assumed_effects
from replicalab.cli import commands
from replicalab.documents import BUNDLE, EXTENSIONS, PRINTED, REPORTS, Report, today
from replicalab.errors import ModelError, TraceError
from replicalab.facts import (
    check_facts,
    comparison_facts,
    negotiation_facts,
    record_facts,
    round_facts,
    score_facts,
)
from replicalab.facts.blocks import Block, Heading, Sentence, Verdict, row, table
from replicalab.facts.change_facts import plan_blocks
from replicalab.facts.curve_facts import original_panel
from replicalab.facts.lab_facts import amounts_text, lab_text, own_values
from replicalab.facts.plan_facts import asked_text
from replicalab.facts.report_facts import said_blocks
from replicalab.facts.verdicts import plan_verdict
from replicalab.limits import MAX_SEED, MOST_JOBS, MOST_SIDES
from replicalab.negotiation import LabManagerKind, Negotiation, Outcome, ScientistKind
from replicalab.negotiation.batch import Batch, collect, run_batch
from replicalab.negotiation.case import FEWEST_SIDES, Case, Side, side_of
from replicalab.planner import PlanAnalysis
from replicalab.planner.curves import Curves
from replicalab.scenarios import MAX_ROUNDS, Difficulty, EvidenceTier, Pack, Study

_DASK_SECONDS: Final = 10  # for a scheduler to answer

Blocks = Iterator[Block | str | None]


def place_text(pack: Pack) -> str:
    return " · ".join(filter(None, (pack.paper.name, lab_text(pack), asked_text(pack))))


def signed(verdict: Verdict) -> Sentence:
    return Sentence(verdict.text, status=verdict.status)


def opening(plan: Assessment) -> Blocks:
    """Yield a plan's study, lab and size, then its verdict."""
    yield f"{place_text(plan.pack)} · {plan.size_text}"
    yield signed(plan_verdict(plan))


@commands.command("as_json", codes="0", example="--json")
def studies(_: commands.Options) -> commands.Answer:
    """List the studies."""
    for error in scenarios.broken_scenarios():
        commands.say(str(error))
    rows = [*map(record_facts.study_row, scenarios.list_scenarios())]
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
    study, _ = commands.study_at(options.study)
    case = commands.case_of(options, study, options.lab, {})
    pack, original = commands.pack_of(case, study), scenarios.pack_of(study, case.lab, case.seed)
    own_texts = (value.text for value in own_values(original, pack))
    blocks = [place_text(pack), amounts_text(pack.lab), *own_texts]
    file = scenarios.lab_json(pack.own_lab)
    return commands.Answer(0, blocks, lambda: record_facts.place(pack), file)


@commands.command(
    *commands.PLAN, codes="0 if it passes, 1 if not", example="psy_stroop --lab hard --samples 60"
)
def check(options: commands.Options) -> commands.Answer:
    """Check a plan against its lab in seven dimensions, with its cost and evidence."""
    analysis, _ = commands.analysis(options)
    plan = analysis.yours
    plans, panel = {check_facts.YOURS: plan}, check_facts.check_panel(plan, analysis.binding)
    evidence, cost = check_facts.evidence_panel(plans), check_facts.cost_panel(plan)
    effects = check_facts.effects_table(assumed_effects(plan.pack.design), plans)
    blocks = [*opening(plan), panel, cost, evidence, effects, original_panel(Curves(plan))]
    code = int(not plan.feasible)
    return commands.Answer(code, blocks, lambda: record_facts.check_record(analysis))


@commands.command(
    *commands.PLAN, "save", codes="0 if its plan is worth running, 1 if not", example="psy_stroop"
)
def plan(options: commands.Options) -> commands.Answer:
    """Find the plan with the least loss, change by change, and what the lab lacks."""
    analysis, _ = commands.analysis(options)
    loss = analysis.least
    shows = loss.after.evidence.tier is not EvidenceTier.BELOW_FLOOR
    code = 0 if loss.after.feasible and shows else 1
    file = scenarios.plan_json(loss.plan, analysis.yours.pack.scenario_id)
    blocks = [*opening(analysis.yours), *plan_blocks(analysis)]
    return commands.Answer(code, blocks, lambda: record_facts.plan_record(analysis), file)


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
    study, _ = commands.study_at(options.study)
    sides = []
    for lab in labs:
        pack = commands.pack_of(commands.case_of(options, study, lab, {}), study)
        for name in plans:
            titles = [Path(commands.called(Path(name))).stem] if len(plans) > 1 else []
            titles += [lab_text(pack)] if len(labs) > 1 or not titles else []
            sides.append(_side(", ".join(titles), name, pack, study))
    names = ("", *(side.name for side in sides))
    blocks: list[Block | str] = [sides[0].plan.pack.paper.name]
    for title, lines in comparison_facts.parts(sides).items():
        rows = [row(line.label, *line.cells) for line in lines]
        blocks += [Heading(title), table(title, names, rows)]
    return commands.Answer(0, blocks, lambda: {"sides": [*map(_side_facts, sides)]})


def _side(title: str, name: str, pack: Pack, study: Study) -> Side:
    if choose := _NAMED.get(name):
        return side_of(title, choose(PlanAnalysis(assess(pack.reference_protocol, pack))))
    path = Path(name)
    if not (path.suffix or name == commands.STANDARD or path.exists()):
        commands.choice("--plan", name, [*_NAMED])
    run = commands.run_at(path, study)
    if run and run.pack == pack:
        return side_of(title, run)
    return side_of(title, assess(commands.plan_at(path, study), pack))


def _side_facts(side: Side) -> record_facts.Data:
    played, judged = side.played, comparison_facts.judged_text(side)
    checked = record_facts.check_record(PlanAnalysis(side.plan))
    return {"name": side.name, "judged": judged, **checked, "negotiated": played and played.outcome}


@commands.command(
    *(*commands.PLAN, "kind", "answers", "negotiated", "date", "paper", "save"),
    codes="0",
    example="psy_stroop --kind brief --date 2026-01-31",
)
def report(options: commands.Options) -> commands.Answer:
    """Write a brief, a funding request, a report or a registration form; as JSON the bundle."""
    commands.choice("--kind", options.kind, REPORTS)
    extension = _report_extension(options)
    analysis, case = commands.analysis(options, registration=commands.answers(options))
    pack = analysis.yours.pack
    setup = Case.of(pack, analysis.yours.plan).setup(pack)
    made = Report(
        analysis,
        negotiation.negotiate(setup, pack) if options.negotiated else None,
        options.kind,
        options.date.date() if options.date else today(),
        case.registration,
    )
    file = made.form(extension, options.paper or "A4") if options.save else ""
    blocks = () if options.save else made.document.blocks
    return commands.Answer(0, blocks, lambda: json.loads(made.form(BUNDLE)), file)


def _report_extension(options: commands.Options) -> str:
    named = options.save is not None and str(options.save) != commands.STANDARD
    extension = options.save.suffix.lower()[1:] if options.save and named else "md"
    if extension not in EXTENSIONS:
        remedy = f"end its name in {lexicon.joined([f'.{text}' for text in EXTENSIONS], 'or')}"
        raise commands.CommandError(f"--save '{options.save}': no such format; {remedy}")
    if extension == BUNDLE and options.kind in {"brief", "funding"}:
        problem = f"--kind {options.kind}: a bundle is no document"
        raise commands.CommandError(f"{problem}; omit it, or save another format")
    if options.paper and extension not in PRINTED:
        problem = f"--paper {options.paper}: .{extension} has no pages"
        raise commands.CommandError(f"{problem}; save a PDF or Word file, or omit it")
    return extension


@commands.command(
    *(*commands.PLAN, "scientist", "lab_manager", "replay", "save"),
    codes="0 if they agree above the floor or the transcript replays, 1 if not",
    example="psy_stroop",
)
def negotiate(options: commands.Options) -> commands.Answer:
    """Play a negotiation round by round, or replay a transcript."""
    study, _ = commands.study_at(options.study)
    if options.replay:
        return _replayed(options, options.replay, study)
    fields = {"max_rounds": MAX_ROUNDS, **_named(options, "scientist", "lab_manager")}
    if options.scientist == ScientistKind.MODEL:
        for option in _named(options, "plan", "samples", "days"):
            problem = f"--{option}: a language model opens with a plan of its own"
            raise commands.CommandError(f"{problem}; omit it with --scientist model")
        case = commands.case_of(options, study, options.lab, fields)
    else:
        case = commands.plan_case(options, study, fields)
    return _play(options, case, commands.pack_of(case, study))


def _named(options: commands.Options, *names: str) -> dict[str, object]:
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def _model() -> Any:
    return features.require("command", commands.app, key=ScientistKind.MODEL)()


def _play(options: commands.Options, case: Case, pack: Pack) -> commands.Answer:
    by_model = case.scientist is ScientistKind.MODEL
    model = _model() if by_model else None
    talk = start = Negotiation(case.setup(pack, model.endpoint.model if model else None), pack)
    is_silent, stop = options.as_json or str(options.save) == commands.STANDARD, ""
    try:
        for talk in negotiation.course(start, model):
            if not is_silent:
                commands.show(_round_blocks(talk))
        code = 0 if talk.outcome is Outcome.AGREED else 1
    except (KeyboardInterrupt, ModelError) as error:
        if not talk.rounds:
            raise
        commands.say(str(error))
        failed = isinstance(error, ModelError)
        code, why = (2, "the language model failed") if failed else (130, "by Ctrl-C")
        stop = f"Stopped after {lexicon.count_text(len(talk.rounds), 'round')}, {why}."
    spent = model.spent_text(lexicon.count_text(len(talk.rounds), "round")) if model else ""
    record = {"spent": model.spent, "stopped": stop} if model else {}
    blocks, file = [*_ending_blocks(talk), stop, spent], negotiation.save(talk)
    if model:
        with suppress(TraceError, ValidationError):  # no recording has the settings of the model
            file = negotiation.save(talk, model.recording_of(talk.setup))
    return commands.Answer(code, blocks, lambda: {**record, **record_facts.run_record(talk)}, file)


def _replayed(options: commands.Options, path: Path, study: Study) -> commands.Answer:
    excluded = ("scientist", "lab_manager", "plan", "samples", "days", "settings", "save")
    for name in _named(options, *excluded):
        option = name.replace("settings", "set").replace("_", "-")
        problem = f"--{option}: a transcript contains that"
        raise commands.CommandError(f"{problem}; omit it with --replay")
    talk = commands.run_at(path, study)
    if talk is None:
        problem = f"{commands.called(path)}: it holds no negotiation"
        raise commands.CommandError(f"{problem}; name one saved here")
    size = f" · {talk.final_plan.size_text}" if talk.final_plan else ""
    blocks = [f"{place_text(talk.pack)}{size}", _players(talk), *_ending_blocks(talk)]
    return commands.Answer(0, blocks, lambda: record_facts.run_record(talk))


def _round_blocks(talk: Negotiation) -> Blocks:
    number = len(talk.rounds)
    if number == 1:
        yield place_text(talk.pack)
        yield _players(talk)
    yield Heading(negotiation_facts.round_caption(talk, number - 1))
    yield from said_blocks(talk.rounds[-1])


def _ending_blocks(talk: Negotiation) -> Blocks:
    yield Heading("Outcome")
    yield signed(negotiation_facts.outcome_verdict(talk))
    yield round_facts.ledger_panel(talk)
    if talk.ending:
        yield score_facts.score_panel(negotiation.score(talk))


def _players(talk: Negotiation) -> str:
    setup = talk.setup
    scientist, manager = (
        negotiation_facts.SCIENTISTS[setup.scientist],
        negotiation_facts.LAB_MANAGERS[setup.lab_manager],
    )
    model = f" ({setup.model})" if setup.model else ""
    return f"Scientist: {scientist.name}{model}. Lab Manager: {manager.name}."


@commands.command(
    *("studies", "labs", "seeds", "settings", "scientists", "lab_managers"),
    *("workers", "dask", "save", "as_json"),
    codes="0 if every negotiation was played, 1 if one failed",
    example="psy_stroop --seeds 0-3 --workers 1",
)
def batch(options: commands.Options) -> commands.Answer:
    """Play many negotiations, and count their outcomes; `all` names every study."""
    jobs = _jobs(options)
    plays_model = ScientistKind.MODEL in (options.scientists or ())
    if plays_model and options.dask is not None:
        raise commands.CommandError("--dask: a language model is asked from here; omit it or model")
    model = _model() if plays_model else None
    with _dask(options.dask) if options.dask is not None else nullcontext((None, None)) as cluster:
        executor, threads = cluster
        played = _play_batch(jobs, executor, options.workers or threads, model)
    code = 130 if played.stopped else int(any(result.error for result in played.results))
    blocks = [*score_facts.batch_blocks(played)]
    size = lexicon.count_text(len(played.results), "negotiation")
    if model:
        blocks.append(model.spent_text(size))
    data = {**record_facts.batch(played), "spent": model and model.spent}
    file = record_facts.results_csv(played.results) if options.save else ""
    return commands.Answer(code, blocks, lambda: data, file)


def _jobs(options: commands.Options) -> list[Case]:
    shelf = [summary.scenario_id for summary in scenarios.list_scenarios()]
    names = shelf if "all" in options.studies else options.studies
    scientists = options.scientists or [ScientistKind.STEP_BY_STEP]
    lists = scientists, options.lab_managers or [LabManagerKind.REFERENCE]
    cases = list[Case]()
    for name in dict.fromkeys(names):
        study, text = commands.study_at(name)
        for lab, *players in product(*map(dict.fromkeys, (options.labs or [*Difficulty], *lists))):
            named = dict(zip(("scientist", "lab_manager"), players, strict=True))
            case = commands.case_of(options, study, lab, {"max_rounds": MAX_ROUNDS, **named})
            case.question.over(study.design)
            cases.append(case.replace(text=text))
    seeds = _seeds(options.seeds)
    if len(cases) * len(seeds) > MOST_JOBS:
        problem = f"more than {MOST_JOBS:,} negotiations are asked for"
        raise commands.CommandError(f"{problem}; name fewer seeds, labs or studies")
    return [case.replace(seed=seed) for case in cases for seed in seeds]


def _seeds(text: str) -> range:
    match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", text, re.ASCII)
    first, last = (int(number) for number in match.groups(match[1])) if match else (1, 0)
    if not first <= last <= MAX_SEED or last - first >= MOST_JOBS:
        problem = f"--seeds '{lexicon.shortened(text)}' is no range of 1 to {MOST_JOBS:,} seeds"
        raise commands.CommandError(f"{problem}; write one such as 0-99")
    return range(first, last + 1)


def _play_batch(jobs: list[Case], pool: Executor | None, workers: int | None, model: Any) -> Batch:
    step = max(1, len(jobs) // 10)

    def progress(came: int, number: int) -> None:
        if came % step == 0 or came == number:
            total = lexicon.count_text(number, "negotiation")
            commands.say(f"{lexicon.amount_text(came)} of {total}")

    try:
        return collect(jobs, run_batch(jobs, pool, workers, model), progress)
    finally:
        if model:
            model.stop()


@contextmanager
def _dask(address: str) -> Iterator[tuple[Executor, int]]:
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError:
        problem = "--dask: the package distributed is not installed"
        remedy = "pip install distributed, or omit --dask"
        raise commands.CommandError(f"{problem}; {remedy}") from None
    try:
        client = Client(address, timeout=_DASK_SECONDS, set_as_default=False)
    except (OSError, ValueError, AssertionError) as error:
        problem = f"--dask '{address}': no scheduler answers there ({type(error).__name__})"
        raise commands.CommandError(f"{problem}; write one such as tcp://127.0.0.1:8786") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise commands.CommandError(f"--dask '{address}': the cluster has no worker; start one")
        # Equal jobs are each played: the result of a dead worker is worked out again.
        yield client.get_executor(pure=False), workers
