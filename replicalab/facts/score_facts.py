"""A score: the distance of a result from the best plan; a batch: outcomes and mean regret."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Final

from replicalab.assessment import Assessment, failing_text
from replicalab.facts import blocks, negotiation_facts, plan_facts, texts, verdicts
from replicalab.facts.blocks import Bar, Block, Cell, Column, Group, Sentence, Status, Verdict
from replicalab.facts.check_facts import plans_table
from replicalab.facts.frontier_facts import given_up_text
from replicalab.lexicon import amount_text, capitalised, count_text, joined, one_line
from replicalab.negotiation import Outcome, Score, is_worth_running
from replicalab.negotiation import batch as batches
from replicalab.negotiation.batch import Batch, Result, Share, Summary
from replicalab.negotiation.score import RobustPlan
from replicalab.planner import PlanStep
from replicalab.planner.least_loss import differences

YOU: Final = "You"  # the name of the reader's own result
_SMALLEST_SHOWN: Final = 0.01


def score_verdict(score: Score) -> Verdict:
    """Return a score in a sentence: the regret, and the term of the order that decides it."""
    plan, best, regret = score.plan, score.best, f"Regret {regret_text(score.regret)}"
    if plan is None and not is_worth_running(best):
        return Verdict(Status.PASS, "Optimal", f"{regret}: no plan of this lab is worth running.")
    if plan is None:
        text = f"there is no plan; the best has {best.evidence.text} with {best.size_text}"
        return Verdict(Status.FAIL, "No plan", f"{regret}: {text}.")
    worse = "no plan ranks above it" if score.exact else "no plan that was searched ranks above it"
    if score.deciding is not None:
        name, value = _TERMS[score.deciding]
        worse = f"{name}: {value(plan, best)} instead of {value(best, plan)}"
    if not score.counts:
        title = "Cannot be run here" if plan.failing else "Not worth running"
        why = plan.fails_text if plan.failing else plan.evidence.placed_text
        return Verdict(Status.FAIL, title, f"{regret}: {why}. {capitalised(worse)}.")
    if not score.regret:
        title = "Optimal" if score.exact else "Best found"
        return Verdict(Status.PASS, title, f"{regret}: {worse}.")
    return Verdict(Status.CAUTION, "Not optimal", f"{regret}, 0 is optimal. {worse}.")


def regret_text(value: float) -> str:
    """Return a regret, a part of one or a mean; only an optimal one reads 0."""
    if not value:
        return "0"
    return f"{value:.2f}" if value >= _SMALLEST_SHOWN else f"below {_SMALLEST_SHOWN:.2f}"


def _evidence(plan: Assessment, other: Assessment) -> str:
    evidence = plan.evidence
    if evidence.void_reason:
        return "none"
    bounds = (evidence.target, evidence.floor, other.evidence.value)
    return evidence.row.scale.format(evidence.value, bounds)


_TERMS: Final[dict[str, tuple[str, Callable[[Assessment, Assessment], str]]]] = {
    "failing": ("Failing checks", lambda plan, _: str(len(plan.failing))),
    "tier": ("Evidence", lambda *plans: f"{_evidence(*plans)} ({plans[0].evidence.tier})"),
    "endpoint_lost": ("Days", lambda plan, _: amount_text(plan.counts.days)),
    "wishes": ("Soft constraints missed", lambda plan, _: str(len(plan.broken_wishes))),
    "loss": ("Fidelity loss", lambda plan, _: str(plan.fidelity_loss)),
    "evidence": ("Evidence", _evidence),
    "changes": (
        "Fields changed",
        lambda plan, _: str(len(differences(plan.pack.reference_protocol, plan.plan))),
    ),
    "credits": ("Cost", lambda plan, _: plan.pack.lab.money(plan.cost)),
    **dict.fromkeys(("cuts", "samples", "days"), ("Size", lambda plan, _: plan.size_text)),
}
"""Each term of the order, and its value for a plan and the one that it is compared with."""


def score_panel(score: Score, who: str = "The run") -> blocks.Group:
    """Return a score: its verdict, and the result of ``who`` next to the best plan."""
    verdict, plan, best = score_verdict(score), score.plan, score.best
    title, column = ("Your score", "Yours") if who == YOU else ("Score", who)
    heading = blocks.Heading(title, 2, part=True)
    sentence = Sentence(verdict.text, f"{verdict.title}.", verdict.status)
    if plan is None:
        return blocks.group(heading, sentence)
    gives_up = f"has {given_up_text(best)}" if best.fidelity_loss else "gives up nothing"
    return blocks.group(
        heading,
        sentence,
        Sentence(plan_facts.cautions_sentence(plan)),
        plans_table({column: plan, "Best": best}),
        Sentence(plan_facts.with_cautions(f"The best plan {gives_up}.", best)),
    )


REGRET_TITLE: Final = "Mean regret: the distance from each lab's best plan; 0 is optimal"


def share_text(share: Share) -> str:
    """Return a share with its interval: ``7 of 10, 70 % (40 to 89 %)``."""
    low, high = (100 * end for end in share.interval)
    number, of = amount_text(share.number), amount_text(share.of)
    return texts.SHARE.format(number=number, of=of, percent=100 * share.value, low=low, high=high)


def agreed_text(summaries: Iterable[Summary]) -> str:
    """Return how many of the played negotiations agreed."""
    shares = [pair for summary in summaries for pair in summary.shares.items()]
    agreed = sum(share.number for outcome, share in shares if outcome is Outcome.AGREED)
    played = sum(share.number for _, share in shares)
    return f"{amount_text(agreed)} of {count_text(played, 'negotiation')} agreed"


def group_names(summaries: Sequence[Summary], studies: Mapping[str, str]) -> list[str]:
    """Return names of groups by what differs among them: study, players, or both."""
    groups = [
        (
            studies.get(summary.study, summary.study),
            negotiation_facts.SCIENTISTS[summary.scientist].name,
            negotiation_facts.LAB_MANAGERS[summary.lab_manager].name,
        )
        for summary in summaries
    ]
    differing = [len(set(column)) > 1 for column in zip(*groups, strict=True)]
    differing = differing if any(differing) else [True, False, False]
    return [" · ".join(compress(parts, differing)) for parts in groups]


def outcomes_text(summary: Summary) -> str:
    """Return each outcome of a group of negotiations with its share, and their mean regret."""
    parts = [
        f"{negotiation_facts.OUTCOME_TITLES[outcome]}: {share_text(s)}"
        for outcome, s in summary.shares.items()
    ]
    parts += [f"mean regret {regret_text(summary.regret.value)}"] if summary.regret else []
    return "; ".join([*parts, *([_failed_text(summary.failed)] if summary.failed else [])])


def _failed_text(number: int) -> str:
    return f"{count_text(number, 'negotiation')} could not be played"


def stopped_text(came: int, asked: int) -> str:
    """Return how many negotiations of a stopped batch are played."""
    return f"Stopped: {amount_text(came)} of {count_text(asked, 'negotiation')} are played."


def kept_text(summaries: Sequence[Summary], studies: Mapping[str, str]) -> str:
    """Return the name under which a batch is saved: studies, labs and number of negotiations."""
    ids = list(dict.fromkeys(summary.study for summary in summaries))
    labs = list(dict.fromkeys(str(summary.lab) for summary in summaries))
    named = studies.get(ids[0], ids[0]) if len(ids) == 1 else count_text(len(ids), "study")
    where = f"{labs[0]} lab" if len(labs) == 1 else count_text(len(labs), "lab")
    played = sum(share.number for summary in summaries for share in summary.shares.values())
    number = played + sum(summary.failed for summary in summaries)
    return f"{named} · {where} · {count_text(number, 'negotiation')}"


def again_text(again: Sequence[tuple[Result, Result]], number: int) -> str:
    """Return whether playing some of a saved batch again gave the same."""
    others = sum(not batches.is_same(*pair) for pair in again)
    text = texts.PLAYED_AGAIN.format(again=amount_text(len(again)), number=amount_text(number))
    return (texts.OTHERWISE if others else texts.AS_KEPT).format(text=text, others=others)


def shares_panel(
    summaries: Iterable[Summary], names: Mapping[str, str], results: Iterable[Result]
) -> Group:
    """Return the share of each outcome in each group, with its 95 % interval, and the errors."""
    errors = dict.fromkeys(one_line(result.error) for result in results if result.error)
    columns = (
        *("Study", "Lab", "Scientist · Lab Manager", "Outcome"),
        Column("Share (95 % interval)", "fixed", "before", "Share, with its interval"),
    )
    rows = [row for summary in summaries for row in _rows(summary, names)]
    return blocks.group(
        blocks.table("Outcomes by group", columns, rows, kind="shares", scrolls=True),
        blocks.listing(Sentence(text, "Not played:") for text in errors),
    )


def _rows(summary: Summary, names: Mapping[str, str]) -> Iterator[tuple[Cell, ...]]:
    scientist = negotiation_facts.SCIENTISTS[summary.scientist].name
    players = f"{scientist} · {negotiation_facts.LAB_MANAGERS[summary.lab_manager].name}"
    group = blocks.row(names.get(summary.study, summary.study), str(summary.lab), players)
    for outcome, share in summary.shares.items():
        status = negotiation_facts.OUTCOME_STATUS[outcome]
        bar = Bar(share.value, interval=share.interval)
        title = Cell(negotiation_facts.OUTCOME_TITLES[outcome], status=status)
        yield *group, title, Cell(share_text(share), bar=bar, shade=status)
        group = (Cell(), Cell(), Cell())
    if summary.failed:
        yield *group, Cell(_failed_text(summary.failed)), Cell()


def regret_panel(results: Sequence[Result]) -> Group:
    """Return the mean regret of each Scientist; of several, in pairs with the first."""
    pairs, rows = batches.in_pairs(results), list[list[Cell | str]]()
    columns = ["Scientist", "Mean regret", "Runs"]
    for player, mean in batches.regrets(results).items():
        name = negotiation_facts.SCIENTISTS[player].name
        regret = Cell(regret_text(mean.value), mean.value)
        paired = _paired_text(pairs[player]) if rows else "–"
        row: list[Cell | str] = [name, regret, f"{mean.number:,}", paired]
        rows.append(row[: 4 if len(pairs) > 1 else 3])
        columns += [f"More than {name} (95 % interval)"][: len(rows[0]) - len(columns)]
    numbers = (Column(column, "number") for column in columns[1:])
    table = blocks.table(REGRET_TITLE, (columns[0], *numbers), rows, kind="plain", scrolls=True)
    return blocks.group(Sentence(f"{REGRET_TITLE}.") if rows else None, table)


def _paired_text(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "–"
    text = "{:+.2f} ({:+.2f} to {:+.2f})".format(*batches.mean_interval(values))
    return text.replace("-", "−")


def batch_blocks(batch: Batch) -> Iterator[Block]:
    """Yield the outcomes and the mean regret of a batch, and its number of results if stopped."""
    results = batch.results
    if batch.stopped:
        yield Sentence(stopped_text(len(results), batch.asked))
    yield shares_panel(batch.summaries, {}, results)
    yield regret_panel(results)


_NONE_REACHES: Final = "No plan reaches the floor in the {worlds} world."
_NOWHERE: Final = "No plan reaches the floor in any of the worlds."
_BOTH_ALIKE: Final = (
    "Least loss is also the most robust plan: it reaches the floor in {reached} of {number} worlds."
)
_FITS: Final = (
    "Least loss reaches the floor in {least} of {number} worlds; the most robust plan fits the lab "
    "in {feasible}, but reaches the floor in {reached}."
)
_INSTEAD: Final = "{1} instead of {0}"
_ROBUST: Final = (
    "The most robust plan reaches the floor in {reached} of {number} worlds. Compared with the "
    "least-loss plan, in the {likely} world: {changes}."
)


def robust_text(robust: RobustPlan) -> str:
    """Return in how many worlds the robust plan passes, and what it costs next to least loss."""
    least, plan, worlds = robust.least, robust.plan, robust.options
    none = [name for name, one in worlds.items() if one.least.none_above_floor]
    if len(none) == len(worlds):
        return _NOWHERE
    opening = _NONE_REACHES.format(worlds=joined(none)) if none else ""
    step, text = PlanStep(least, plan), _ROBUST if robust.helps else _FITS
    moves = [negotiation_facts.step_changes(step, _INSTEAD), plan_facts.saved_text(step)]
    moves.append(plan_facts.loss_text(step, _INSTEAD))
    text = (text if plan.plan != least.plan else _BOTH_ALIKE).format(
        feasible=sum(one.passes for one in robust.everywhere(plan).values()),
        reached=robust.worlds_reached(plan),
        least=robust.worlds_reached(least),
        number=len(worlds),
        likely=robust.likely,
        changes="; ".join(filter(None, moves)),
    )
    met = [verdicts.verdict_cell(one).status is Status.PASS for one in (least, plan)]
    misses = "It misses the target." if met == [True, False] else ""
    return " ".join(filter(None, (opening, text, misses, plan_facts.newly_broken_text(step))))


def robust_table(robust: RobustPlan) -> blocks.Table:
    """Return both plans in each world; no rows if none reaches the floor in any."""
    lines = []
    shown = {"Least loss": robust.least, "Most robust": robust.plan}
    if robust.plan.plan == robust.least.plan:
        shown = {"Least loss, most robust": robust.least}
    if all(one.least.none_above_floor for one in robust.options.values()):
        shown = {}
    for name, plan in shown.items():
        cells = [Cell(name, note=f"{plan.size_text}, {plan.pack.lab.money(plan.cost)}")]
        for one in robust.everywhere(plan).values():
            fails = Cell(capitalised(failing_text(one.pack, one.causes)), status=Status.FAIL)
            status, number = verdicts.marked(one, one.evidence, one.evidence.number)
            cells.append(fails if one.failing else Cell(number, status=status))
        lines.append(cells)
    columns = (f"Plan and its {robust.least.evidence.measure}", *map(capitalised, robust.options))
    return blocks.table("Both plans in each world", columns, lines, kind="worlds")
