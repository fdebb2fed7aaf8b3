"""Facts for programs: JSON answers and the rows of data frames, with identifiers as keys."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final

from replicalab import lexicon, negotiation, planner, scenarios
from replicalab.assessment import Assessment, Evidence
from replicalab.facts import blocks, negotiation_facts, plan_facts, verdicts
from replicalab.negotiation.batch import Batch, Result, Summary
from replicalab.tables import frame, sheet, workbook

Data = dict[str, object]
_ASK = ("dimension", "has", "needs", "item", "text")


def fields(record: object, *names: str) -> Data:
    return {name: getattr(record, name) for name in names}


def place(pack: scenarios.Pack) -> Data:
    """Return study and lab, and the user's own values of both."""
    lab = {"difficulty": pack.difficulty, "seed": pack.seed, **pack.lab.model_dump()}
    own_lab = pack.own_lab.model_dump(exclude_defaults=True)
    question = pack.question.model_dump(exclude_defaults=True)
    return {"study": pack.scenario_id, "lab": lab, "own_lab": own_lab, "question": question}


def evidence(evidence: Evidence) -> Data:
    return {"measure": evidence.measure, **asdict(evidence)}


def plan(judged: Assessment) -> Data:
    """Return a plan, its check, cost and evidence."""
    facts = plan_facts.plan_facts(judged)
    return {
        **fields(judged, "plan", "feasible", "failing"),
        **{fact.key: fact.value for fact in facts if fact.key != "evidence"},
        "units": {fact.key: fact.unit for fact in facts if fact.unit},
        "verdict": verdicts.plan_verdict(judged)._asdict(),
        "wishes_broken": [wish.constraint.key for wish in judged.broken_wishes],
        "evidence": evidence(judged.evidence),
    }


def check_record(analysis: planner.PlanAnalysis) -> Data:
    """Return the whole check of a plan."""
    judged = analysis.yours
    return {
        **place(judged.pack),
        **plan(judged),
        "dimensions": [
            {**dimension_row(judged, name, analysis.binding), "reasons": judged.reasons[name]}
            for name in judged.slack
        ],
        "cost_terms": [
            {"term": term.label, **fields(term, "number", "rate", "credits")}
            for term in judged.cost_terms
        ],
        "detectable_effect": judged.detectable_effect,
        "notes": [{"kind": kind, "text": text} for kind, text in plan_facts.notes(judged)],
    }


def plan_record(analysis: planner.PlanAnalysis) -> Data:
    """Return the changes to a plan and the additions to its lab."""
    yours, offer, loss, asks = analysis.yours, analysis.offer, analysis.least, analysis.asks
    made = planner.change_steps(yours, loss.changes)
    offered = planner.change_steps(yours, offer.changes) if offer else ()
    alone = [
        {**fields(single.ask, *_ASK), "tier": single.tier, "plan": plan(single.least.after)}
        for single in asks.singles
    ]
    waits = [{**fields(wait, "start_day", "items"), "plan": wait.least.plan} for wait in asks.waits]
    target = asks.target and _shortfall(asks.target)
    return {
        **check_record(analysis),
        "offer": offer and _revision(offer.after, offered),
        "least_loss": {**_revision(loss.after, made), "exact": loss.exact},
        "cheapest": analysis.cheapest and plan(analysis.cheapest),
        "most_evidence": analysis.most_evidence and plan(analysis.most_evidence),
        "takes": {"run": _shortfall(asks.run), "target": target, "alone": alone, "waits": waits},
    }


def run_record(talk: negotiation.Negotiation) -> Data:
    """Return a negotiation, its rounds and its score."""
    score = negotiation.score(talk) if talk.ending else None
    rounds = [
        {
            "caption": negotiation_facts.round_caption(talk, at),
            "action": done.action and done.action.action_type,
            "plan": done.plan and plan(done.plan),
            **fields(done, "reason", "answer"),
        }
        for at, done in enumerate(talk.rounds)
    ]
    return {
        **place(talk.pack),
        **fields(talk.setup, "scientist", "lab_manager", "model"),
        **fields(talk, "outcome", "ending"),
        "verdict": negotiation_facts.outcome_verdict(talk)._asdict(),
        "final": talk.final_plan and plan(talk.final_plan),
        "rounds": rounds,
        "score": score and fields(score, "regret", "deciding"),
    }


def batch(played: Batch) -> Data:
    """Return the groups and results of a batch."""
    groups = [
        {
            **fields(group, "study", "lab", "scientist", "lab_manager", "failed"),
            "regret": group.regret and group.regret.value,
            "shares": {
                outcome: fields(share, "number", "of", "value", "interval")
                for outcome, share in group.shares.items()
            },
        }
        for group in played.summaries
    ]
    rows = [result.model_dump(mode="json", exclude={"job": {"text"}}) for result in played.results]
    data = {"asked": played.asked, "stopped": played.stopped}
    return {**data, "summaries": groups, "results": rows}


def _revision(after: Assessment, steps: Iterable[planner.PlanStep]) -> Data:
    changes = [
        {
            **(step.change.model_dump() if step.change else {}),
            **fields(step, "credits_saved"),
            **fields(step.after, "fidelity_loss"),
            "evidence": evidence(step.after.evidence),
        }
        for step in steps
    ]
    return {**plan(after), "changes": changes}


def _shortfall(lacking: planner.Shortfall) -> Data:
    return {
        **fields(lacking, "plan", "failing"),
        "asks": [fields(ask, *_ASK) for ask in lacking.asks],
    }


# The columns of each kind of row.
STUDY: Final = ("id", "name", "title", "domain", "kind", "n", "unit_of_n", "teaches")
DIMENSION: Final = ("dimension", "ok", "used", "limit", "slack", "unit", "binding")
FRONTIER: Final = ("samples", "days", "credits", "analysed", "evidence", "tier", "fidelity_loss")


def study_row(study: scenarios.ScenarioSummary) -> dict[str, blocks.Value]:
    """Return the key data of a study; ``n`` is the published sample, in ``unit_of_n``."""
    paper, design = study.paper, study.design
    names = study.scenario_id, paper.name, paper.title, study.domain_id, str(design.kind)
    sample = study.reference_protocol.sample_size, design.unit_of_n
    return dict(zip(STUDY, (*names, *sample, paper.teaches), strict=True))


def dimension_row(plan: Assessment, dimension: str, binding: str | None) -> dict[str, blocks.Value]:
    """Return a plan's use of a limit, and the rest; relief of ``binding`` helps most."""
    slack = plan.slack[dimension]
    unit = plan.pack.lab.currency if slack.row.currency else lexicon.plural(slack.row.noun, 2)
    row = str(dimension), slack.ok, slack.used, slack.limit, slack.slack, unit
    return dict(zip(DIMENSION, (*row, dimension == binding), strict=True))


def frontier_row(plan: planner.FrontierPlan) -> dict[str, blocks.Value]:
    """Return an undominated plan; its evidence is in the measure of its study."""
    size = plan.samples, plan.days, plan.credits, plan.analysed
    return dict(zip(FRONTIER, (*size, plan.value, str(plan.tier), plan.loss), strict=True))


RESULT_COLUMNS: Final = (
    *("study", "lab", "seed", "own_lab", "scientist", "lab_manager", "max_rounds"),
    *("outcome", "rounds", "feasible", "samples", "days", "credits", "evidence", "tier"),
    *("wishes_broken", "regret", "error"),
)
SUMMARY_COLUMNS: Final = (
    *("study", "lab", "scientist", "lab_manager", "outcome"),
    *("number", "of", "share", "low", "high", "failed", "regret"),
)


def results_frame(results: Iterable[Result]) -> Any:
    """Return the results in order; missing values are `pandas.NA`."""
    return frame(RESULT_COLUMNS, map(_result, results)).convert_dtypes()


def results_csv(results: Iterable[Result]) -> str:
    """Return `results_frame` as CSV without spreadsheet formulas."""
    return sheet(RESULT_COLUMNS, _plain(map(_result, results)))


def batch_workbook(results: Sequence[Result], summaries: Iterable[Summary]) -> bytes:
    """Return a workbook with the shares of outcomes and the results."""
    shares = _plain(row for summary in summaries for row in _shares(summary))
    rows = _plain(map(_result, results))
    return workbook({"Outcomes": [SUMMARY_COLUMNS, *shares], "Results": [RESULT_COLUMNS, *rows]})


def _plain(rows: Iterable[Sequence[blocks.Value]]) -> Iterable[list[str | float]]:
    for row in rows:
        plain = ("" if cell is None else cell for cell in row)
        yield [str(cell).lower() if isinstance(cell, bool) else cell for cell in plain]


def _result(result: Result) -> Sequence[blocks.Value]:
    job = result.job
    numbers = (result.rounds, result.feasible, result.samples, result.days, result.credits)
    return (
        *(job.study, str(job.lab), job.seed, job.own_lab.name or ""),
        *(str(job.scientist), str(job.lab_manager), job.max_rounds),
        str(result.outcome) if result.outcome else None,
        *(numbers if result.outcome else (None,) * len(numbers)),
        *(result.evidence, str(result.tier) if result.tier else None),
        *(result.wishes_broken, result.regret, result.error),
    )


def _shares(summary: Summary) -> Iterable[Sequence[blocks.Value]]:
    group = summary.study, str(summary.lab), str(summary.scientist), str(summary.lab_manager)
    regret = summary.regret.value if summary.regret else None
    if not summary.shares:
        yield (*group, *(None,) * 6, summary.failed, regret)
    for outcome, share in summary.shares.items():
        counted = (share.number, share.of, share.value, *share.interval)
        yield (*group, str(outcome), *counted, summary.failed, regret)
