"""A batch in words: how often each outcome came, and how sure that is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from math import prod
from typing import Final

from replicalab.errors import ReplicaLabError
from replicalab.facts import blocks, texts
from replicalab.facts.blocks import Bar, Block, Cell, Column, Group, Sentence
from replicalab.facts.negotiation import LAB_MANAGERS, OUTCOME_STATUS, OUTCOME_TITLES, SCIENTISTS
from replicalab.facts.score import regret_text
from replicalab.lexicon import CREDITS, amount_text, count_text, money_text
from replicalab.negotiation import Outcome
from replicalab.negotiation.batch import Batch, Result, Share, Summary, is_same, regrets

REGRET_TITLE: Final = "Mean regret: how far from the best that each lab could run; 0 is optimal"


def share_text(share: Share) -> str:
    """Return a share with its interval: ``7 of 10, 70 % (40 to 89 %)``."""
    low, high = (100 * end for end in share.interval)
    number, of = amount_text(share.number), amount_text(share.of)
    return texts.SHARE.format(number=number, of=of, percent=100 * share.value, low=low, high=high)


def counted_text(numbers: Mapping[str, int]) -> str:
    """Return how many negotiations so many of each make: ``3 labs × 2 seeds = 6 negotiations``."""
    number = prod(numbers.values())
    text = " × ".join(count_text(each, noun) for noun, each in numbers.items())
    return f"{text} = {count_text(number, 'negotiation')}"


def agreed_text(found: Iterable[Summary]) -> str:
    """Return what a picture of a batch shows: how many agreed, of how many that were played."""
    shares = [share for summary in found for share in summary.shares.items()]
    agreed = sum(share.number for outcome, share in shares if outcome is Outcome.AGREED)
    played = sum(share.number for _, share in shares)
    ends = "ends" if played == 1 else "end"
    return f"{amount_text(agreed)} of {count_text(played, 'negotiation')} {ends} agreed"


def group_names(found: Sequence[Summary], studies: Mapping[str, str]) -> list[str]:
    """Return what tells each group from the others, apart from its lab: study, players, or both."""
    groups = [
        (
            studies.get(summary.study, summary.study),
            SCIENTISTS[summary.scientist].name,
            LAB_MANAGERS[summary.lab_manager].name,
        )
        for summary in found
    ]
    differing = [len(set(column)) > 1 for column in zip(*groups, strict=True)]
    differing = differing if any(differing) else [True, False, False]
    return [" · ".join(compress(parts, differing)) for parts in groups]


def outcomes_text(summary: Summary) -> str:
    """Return each outcome of a group of negotiations with its share, and their mean regret."""
    parts = [f"{OUTCOME_TITLES[outcome]}: {share_text(s)}" for outcome, s in summary.shares.items()]
    parts += [f"mean regret {regret_text(summary.regret.value)}"] if summary.regret else []
    return "; ".join([*parts, *([failed_text(summary.failed)] if summary.failed else [])])


def failed_text(number: int) -> str:
    """Return how many negotiations could not be played."""
    return f"{count_text(number, 'negotiation')} could not be played"


def stopped_text(came: int, asked: int) -> str:
    """Return how far a batch came that was stopped."""
    return f"Stopped: {amount_text(came)} of {count_text(asked, 'negotiation')} are played."


def kept_text(found: Sequence[Summary], studies: Mapping[str, str]) -> str:
    """Return what a batch is called until somebody renames it."""
    ids = list(dict.fromkeys(summary.study for summary in found))
    named = studies.get(ids[0], ids[0]) if len(ids) == 1 else count_text(len(ids), "study")
    labs = list(dict.fromkeys(str(summary.lab) for summary in found))
    where = f"{labs[0]} lab" if len(labs) == 1 else count_text(len(labs), "lab")
    played = sum(share.of for summary in found for share in [*summary.shares.values()][:1])
    number = played + sum(summary.failed for summary in found)
    return f"{named} · {where} · {count_text(number, 'negotiation')}"


def again_text(again: Sequence[tuple[Result, Result]], number: int) -> str:
    """Return what playing some of a kept batch again showed, with a place where it differs."""
    others = [pair for pair in again if not is_same(*pair)]
    again_of = {"again": amount_text(len(again)), "number": amount_text(number)}
    text = texts.PLAYED_AGAIN.format(**again_of)
    if not others:
        return texts.AS_KEPT.format(text=text)
    was, now = others[0]
    return texts.OTHERWISE.format(
        text=text,
        others=amount_text(len(others)),
        job=was.job,
        was=_ending_text(was),
        now=_ending_text(now),
    )


def _ending_text(result: Result) -> str:
    if result.outcome is None:
        return "not played"
    text = f"{OUTCOME_TITLES[result.outcome]} after {count_text(result.rounds, 'round')}"
    return f"{text}, {count_text(result.samples, 'sample')}, {_cost_text(result)}"


def _cost_text(result: Result) -> str:
    """Return what a result's plan costs in its lab's currency, of a study that is not here too."""
    job = result.job
    try:
        currency = job.pack().lab.currency
    except ReplicaLabError:
        currency = job.own_lab.currency or CREDITS
    return money_text(result.credits, currency)


def faults_text(errors: Iterable[str]) -> list[str]:
    """Return why negotiations could not be played, each reason once."""
    return [" ".join(error.split()) for error in dict.fromkeys(errors) if error]


# --- the shares as a panel ---


def shares_panel(found: Iterable[Summary], names: Mapping[str, str], why: Iterable[str]) -> Group:
    """Return the share of each outcome in each group, with its 95 % interval."""
    columns = (
        *("Study", "Lab", "Scientist · Lab Manager", "Outcome"),
        Column("Share (95 % interval)", "fixed", "before", "Share, with its interval"),
    )
    rows = [row for summary in found for row in _rows(summary, names)]
    return blocks.group(
        blocks.table("How often each outcome came", columns, rows, kind="shares", scrolls=True),
        blocks.listing(Sentence(text, "Not played:") for text in why),
    )


def batch_blocks(batch: Batch) -> Iterator[Block]:
    """Yield the outcomes and the mean regret of a batch, and its number of results if stopped."""
    results = batch.results
    if batch.stopped:
        yield Sentence(stopped_text(len(results), batch.asked))
    yield shares_panel(batch.summaries, {}, faults_text(result.error for result in results))
    yield regret_panel(results)


def regret_panel(found: Iterable[Result]) -> Group:
    """Return the mean regret of each Scientist; nothing if none is known."""
    rows = [
        [
            Cell(SCIENTISTS[player].name),
            Cell(regret_text(mean.value), mean.value),
            blocks.number_cell(mean.number),
        ]
        for player, mean in regrets(found).items()
    ]
    columns = ("Scientist", Column("Mean regret", "number"), Column("Runs", "number"))
    sentence = Sentence(f"{REGRET_TITLE}.") if rows else None
    return blocks.group(
        sentence, blocks.table(REGRET_TITLE, columns, rows, kind="plain", scrolls=True)
    )


def _rows(found: Summary, names: Mapping[str, str]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each outcome; the group's name stands in the first one alone."""
    players = f"{SCIENTISTS[found.scientist].name} · {LAB_MANAGERS[found.lab_manager].name}"
    group = (Cell(names.get(found.study, found.study)), Cell(str(found.lab)), Cell(players))
    for outcome, share in found.shares.items():
        status = OUTCOME_STATUS[outcome]
        bar = Bar(share.value, interval=share.interval)
        yield (
            *group,
            Cell(OUTCOME_TITLES[outcome], status=status),
            Cell(share_text(share), bar=bar, shade=status),
        )
        group = (Cell(), Cell(), Cell())
    if found.failed:
        yield *group, Cell(failed_text(found.failed)), Cell()
