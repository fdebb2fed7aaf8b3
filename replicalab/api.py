"""The names of ``import replicalab``, for scripts and notebooks.

They return the core's own objects, which show the pages' panels in a notebook and have `frame()`.
Costs are in the lab's currency, time in days. A wrong argument raises ArgumentError. Source of the
rules: docs/methods.md.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from replicalab import assessment, features, scenarios
from replicalab import negotiation as core
from replicalab.agents.lab_manager_policy import Offer
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.answers import Registration
from replicalab.assessment import Assessment
from replicalab.documents import REPORTS, Report, today
from replicalab.errors import ArgumentError, Fault
from replicalab.limits import MOST_SIDES
from replicalab.models import Protocol, Record, revise
from replicalab.negotiation import LabManagerKind, Negotiation, ScientistKind
from replicalab.negotiation.batch import Batch, collect, jobs_of, run_job
from replicalab.negotiation.batch import run_batch as play_batch
from replicalab.negotiation.case import FEWEST_SIDES, Case, Comparison, in_labs_of, side_of
from replicalab.planner import Frontier, LeastLoss, PlanAnalysis, Shortfalls
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, Pack, Studies
from replicalab.scenarios.loading import content_at
from replicalab.scenarios.reading import checked_call, record_error, require


@checked_call
def studies(domain: str | None = None) -> Studies:
    """Return all studies, or those of one domain.

    >>> [study.scenario_id for study in studies("psychology")]
    ['psy_ego_depletion', 'psy_stroop']
    """
    shelf = scenarios.list_scenarios()
    if domain is not None:
        require("studies", "domain", domain, sorted({study.domain_id for study in shelf}))
    return Studies(study for study in shelf if domain in (None, study.domain_id))


@checked_call
def load(
    study: str | Path,
    lab: str = "medium",
    seed: int = 0,
    *,
    own: LabOverrides | Mapping[str, object] | None = None,
    question: EvidenceAssumptions | Mapping[str, object] | None = None,
) -> Pack:
    """Return a study, by id or by the path of its YAML file, in its easy, medium or hard lab.

    Seed 0 is the lab as written. ``own`` replaces fields of the lab: name, budget, days, staff,
    start_day, currency, start_date, weekends, rates, steps, items. ``question`` replaces fields of
    the evidence target: effect, alpha, sides, target, floor, dropout, baseline, assurance, units,
    arms, why.

    >>> load("psy_stroop", lab="hard").lab.budget
    620.0
    >>> ours = load("psy_stroop", own={"name": "Ours", "budget": 2000, "start_day": 2})
    >>> assess(ours).slack["budget"].slack
    400.0
    """
    find, name = None, str(study)
    if isinstance(study, Path) or "." in name or os.sep in name:  # no id has either
        path = Path(study)
        parsed = scenarios.parse_study(content_at(path), path.name)
        find, name = in_labs_of(parsed), parsed.scenario_id
    with checked("load"):
        places = {"study": name, "lab": lab, "seed": seed}
        case = Case.model_validate(places | {"own_lab": own or {}, "question": question or {}})
    return case.pack(find)


@checked_call
def assess(pack: Pack, plan: Protocol | None = None, **changes: object) -> Assessment:
    """Return the assessment of a plan, by default the study's own; ``changes`` replace its fields.

    >>> plan = assess(load("psy_stroop"), sample_size=60)
    >>> plan.feasible, plan.cost, [str(dimension) for dimension in plan.failing]
    (False, 1200.0, ['protocol', 'budget', 'equipment', 'schedule'])
    >>> plan.evidence.text
    'power 1.00'
    """
    with checked("assess", Protocol):
        chosen = revise(plan or pack.reference_protocol, **changes)
    return assessment.assess(chosen, pack)


@checked_call
def least_loss(plan: Assessment) -> LeastLoss:
    """Return the plan for the same lab that gives up the least, and the changes to it.

    >>> best = least_loss(assess(load("psy_stroop"))).after
    >>> best.plan.sample_size, best.plan.duration_days, best.evidence.text
    (45, 3, 'power 1.00')
    """
    return PlanAnalysis(plan).least


@checked_call
def cheapest(plan: Assessment) -> Assessment | None:
    """Return the cheapest plan in the evidence tier of least loss that loses no more fidelity.

    None if no plan passes and reaches the floor.

    >>> cheapest(assess(load("psy_stroop"))).cost
    600.0
    """
    return PlanAnalysis(plan).cheapest


@checked_call
def most_evidence(plan: Assessment) -> Assessment | None:
    """Return the plan with the most evidence that loses no more fidelity than least loss.

    It misses no more soft constraints either. None if no plan passes.

    >>> most_evidence(assess(load("psy_stroop", lab="hard"))).evidence.text
    'power 0.87'
    """
    return PlanAnalysis(plan).most_evidence


@checked_call
def suggest(plan: Assessment) -> Offer | None:
    """Return the Lab Manager's offer; None for a feasible plan.

    >>> offer = suggest(assess(load("psy_stroop")))
    >>> offer.after.plan.sample_size, suggest(offer.after)
    (25, None)
    """
    return PlanAnalysis(plan).offer


@checked_call
def asks(plan: Assessment) -> Shortfalls:
    """Return the additions to the lab for the plan, for the target, and one at a time.

    >>> [ask.text for ask in asks(assess(load("psy_stroop"))).run.asks]
    ['600 more credits', '1 more day', "'voice-key booth' released"]
    """
    return PlanAnalysis(plan).asks


@checked_call
def frontier(plan: Assessment) -> Frontier:
    """Return the feasible plans that no other beats on cost, days, evidence and fidelity.

    >>> cheapest = frontier(assess(load("psy_stroop"))).plans[0]
    >>> cheapest.samples, cheapest.days, cheapest.credits
    (2, 1, 445.0)
    """
    return PlanAnalysis(plan).frontier


@checked_call
def negotiate(
    plan: Assessment | Pack,
    scientist: str | GenerateFn = ScientistKind.STEP_BY_STEP,
    lab_manager: str = LabManagerKind.REFERENCE,
    max_rounds: int = scenarios.MAX_ROUNDS,
    *,
    model: str | None = None,
) -> Negotiation:
    """Return the negotiation that opens with a plan, or with a study's own.

    ``scientist`` is ``step_by_step``, ``direct`` or ``baseline``; a function from chat messages to
    a model's text; or ``model`` for the endpoint in ``REPLICALAB_LLM_BASE_URL``. A language model
    takes a pack, or the study's own plan; ``model`` is its name in the transcript.
    ``lab_manager`` is ``reference`` or ``least_loss``.

    >>> run = negotiate(assess(load("psy_stroop")))
    >>> str(run.outcome), len(run.rounds), run.final_plan.counts.samples
    ('agreed', 4, 45)
    """
    pack, opening = (plan, None) if isinstance(plan, Pack) else (plan.pack, plan.plan)
    kind, generate_fn, name = _player("negotiate", scientist)
    require("negotiate", "lab_manager", lab_manager, core.RULED_LAB_MANAGERS)
    if generate_fn and opening not in (None, pack.reference_protocol):
        problem = "a language model opens with a plan of its own"
        raise ArgumentError("negotiate", [Fault("plan", problem, "hand in its pack")])
    with checked("negotiate"):
        players = {"scientist": kind, "lab_manager": lab_manager, "max_rounds": max_rounds}
        case = Case.of(pack, opening, **players)
        setup = case.setup(pack, (name if model is None else model) if generate_fn else None)
    return core.negotiate(setup, pack, generate_fn)


def _player(call: str, scientist: str | GenerateFn) -> tuple[str, GenerateFn | None, str | None]:
    if callable(scientist):
        return ScientistKind.MODEL, scientist, None
    kinds = [*sorted(core.AUTOMATIC), ScientistKind.MODEL, "a function"]
    require(call, "scientist", scientist, kinds)
    if scientist == ScientistKind.MODEL:
        model = features.require("command", None, key=scientist)()
        return ScientistKind.MODEL, model, model.endpoint.model
    return scientist, None, None


@checked_call
def run_batch(
    studies: str | Sequence[str],
    labs: Sequence[str] = tuple(scenarios.Difficulty),
    seeds: Sequence[int] = (0,),
    *,
    scientists: Sequence[str | GenerateFn] = (ScientistKind.STEP_BY_STEP,),
    lab_managers: Sequence[str] = (LabManagerKind.REFERENCE,),
    max_rounds: int = scenarios.MAX_ROUNDS,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Batch:
    """Return the result of every combination; each opens with its study's own plan.

    ``studies`` are ids; players are as in `negotiate`, with one language model at most.
    ``executor`` is a pool or a Dask client's ``get_executor()``; None plays one after another.
    ``progress`` is a function of the number of results and the number of jobs. Ctrl-C stops the
    batch once a result has come; `stopped` is then true.

    >>> batch = run_batch("psy_stroop", labs=["hard"], seeds=range(10))
    >>> {str(outcome): share.number for outcome, share in batch.summaries[0].shares.items()}
    {'agreed': 6, 'no_deal': 4}
    """
    players = [_player("run_batch", scientist) for scientist in scientists]
    models = [generate_fn for _, generate_fn, _ in players if generate_fn]
    if len(models) > 1:
        problem = f"{len(models)} language models are named"
        raise ArgumentError("run_batch", [Fault("scientists", problem, "name at most one")])
    generate_fn = models[0] if models else None
    kinds = [kind for kind, *_ in players]
    named = [studies] if isinstance(studies, str) else studies
    with checked("run_batch"):
        jobs = jobs_of(
            named, labs, seeds, scientists=kinds, lab_managers=lab_managers, max_rounds=max_rounds
        )
    for study in named:
        scenarios.load_scenario(study)  # an unknown one is refused before any is played
    # Only an executor starts processes: they import the caller's script again.
    alone = (run_job(job, generate_fn) for job in jobs)
    results = play_batch(jobs, executor, generate_fn=generate_fn) if executor else alone
    batch = collect(jobs, results, progress)
    if jobs and not batch.results:
        raise KeyboardInterrupt
    return batch


@checked_call
def compare(*plans: Assessment | Negotiation, **named: Assessment | Negotiation) -> Comparison:
    """Return two to four plans side by side; a negotiation counts with its final plan.

    >>> plan = assess(load("psy_stroop"))
    >>> sides = compare(published=plan, cheaper=least_loss(plan).after)
    >>> sides.frame().query("what == 'Total'")[["published", "cheaper"]].values.tolist()
    [[1600.0, 1000.0]]
    """
    sides = [*((f"plan {at}", plan) for at, plan in enumerate(plans, start=1)), *named.items()]
    if not FEWEST_SIDES <= len(sides) <= MOST_SIDES:
        remedy = f"name {FEWEST_SIDES} to {MOST_SIDES}"
        raise ArgumentError("compare", [Fault("plans", f"{len(sides)} are named", remedy)])
    return Comparison(side_of(name, plan) for name, plan in sides)


@checked_call
def report(
    plan: Assessment | Negotiation,
    kind: str = "report",
    *,
    on: date | None = None,
    answers: Registration | None = None,
) -> Report:
    """Return a document about a plan; its `save` writes HTML, Markdown, PDF, Word, Excel or JSON.

    A negotiation is reported with its final plan. ``kind`` is ``report``, ``brief``, ``funding``
    or a registration form such as ``brandt-prereg-2``. ``on`` is its date, by default today.

    >>> brief = report(assess(load("psy_stroop")), "brief", on=date(2026, 1, 31))
    >>> print(brief.form("md").splitlines()[2])
    Brief · medium lab · 31 January 2026
    """
    require("report", "kind", kind, REPORTS)
    answers, on = answers or Registration(), on or today()
    if isinstance(plan, Assessment):
        return Report(PlanAnalysis(plan), None, kind, on, answers)
    opening = (plan.rounds[0].plan if plan.rounds else None) or assess(plan.pack)
    return Report(PlanAnalysis(opening), plan, kind, on, answers)


@contextmanager
def checked(call: str, record: type[Record] = Case) -> Iterator[None]:
    """Turn the faults of a record into an ArgumentError of a call."""
    try:
        yield
    except ValidationError as error:
        scenario_error = record_error(error, record, call)
        raise ArgumentError(call, scenario_error.faults, scenario_error.more) from None
