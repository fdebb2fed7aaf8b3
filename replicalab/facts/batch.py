"""A batch in words: the share of each outcome with its interval, and the mean regret."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from math import prod
from typing import Final

from replicalab.facts import blocks, texts
from replicalab.facts.blocks import Bar, Block, Cell, Column, Group, Sentence
from replicalab.facts.negotiation import LAB_MANAGERS, OUTCOME_STATUS, OUTCOME_TITLES, SCIENTISTS
from replicalab.facts.score import regret_text
from replicalab.lexicon import amount_text, count_text, one_line
from replicalab.negotiation import Outcome
from replicalab.negotiation.batch import Batch, Result, Share, Summary, is_same, regrets

REGRET_TITLE: Final = "Mean regret: the distance from each lab's best plan; 0 is optimal"


def share_text(share: Share) -> str:
    """Return a share with its interval: ``7 of 10, 70 % (40 to 89 %)``."""
    low, high = (100 * end for end in share.interval)
    number, of = amount_text(share.number), amount_text(share.of)
    return texts.SHARE.format(number=number, of=of, percent=100 * share.value, low=low, high=high)


def counted_text(numbers: Mapping[str, int]) -> str:
    """Return the number of negotiations: ``3 labs × 2 seeds = 6 negotiations``."""
    text = " × ".join(count_text(number, noun) for noun, number in numbers.items())
    return f"{text} = {count_text(prod(numbers.values()), 'negotiation')}"


def agreed_text(summaries: Iterable[Summary]) -> str:
    """Return how many of the played negotiations agreed."""
    shares = [pair for summary in summaries for pair in summary.shares.items()]
    agreed = sum(share.number for outcome, share in shares if outcome is Outcome.AGREED)
    played = sum(share.number for _, share in shares)
    ends = "ends" if played == 1 else "end"
    return f"{amount_text(agreed)} of {count_text(played, 'negotiation')} {ends} agreed"


def group_names(summaries: Sequence[Summary], studies: Mapping[str, str]) -> list[str]:
    """Return names of groups by what differs among them: study, players, or both."""
    groups = [
        (
            studies.get(summary.study, summary.study),
            SCIENTISTS[summary.scientist].name,
            LAB_MANAGERS[summary.lab_manager].name,
        )
        for summary in summaries
    ]
    differing = [len(set(column)) > 1 for column in zip(*groups, strict=True)]
    differing = differing if any(differing) else [True, False, False]
    return [" · ".join(compress(parts, differing)) for parts in groups]


def outcomes_text(summary: Summary) -> str:
    """Return each outcome of a group of negotiations with its share, and their mean regret."""
    parts = [f"{OUTCOME_TITLES[outcome]}: {share_text(s)}" for outcome, s in summary.shares.items()]
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
    others = sum(not is_same(*pair) for pair in again)
    text = texts.PLAYED_AGAIN.format(again=amount_text(len(again)), number=amount_text(number))
    return (texts.OTHERWISE if others else texts.AS_KEPT).format(text=text, others=others)


def faults_text(errors: Iterable[str]) -> list[str]:
    """Return why negotiations could not be played, each reason once."""
    return [one_line(error) for error in dict.fromkeys(errors) if error]


def shares_panel(
    summaries: Iterable[Summary], names: Mapping[str, str], why: Iterable[str]
) -> Group:
    """Return the share of each outcome in each group, with its 95 % interval."""
    columns = (
        *("Study", "Lab", "Scientist · Lab Manager", "Outcome"),
        Column("Share (95 % interval)", "fixed", "before", "Share, with its interval"),
    )
    rows = [row for summary in summaries for row in _rows(summary, names)]
    return blocks.group(
        blocks.table("Outcomes by group", columns, rows, kind="shares", scrolls=True),
        blocks.listing(Sentence(text, "Not played:") for text in why),
    )


def _rows(summary: Summary, names: Mapping[str, str]) -> Iterator[tuple[Cell, ...]]:
    players = f"{SCIENTISTS[summary.scientist].name} · {LAB_MANAGERS[summary.lab_manager].name}"
    group = blocks.row(names.get(summary.study, summary.study), str(summary.lab), players)
    for outcome, share in summary.shares.items():
        status = OUTCOME_STATUS[outcome]
        bar = Bar(share.value, interval=share.interval)
        title = Cell(OUTCOME_TITLES[outcome], status=status)
        yield *group, title, Cell(share_text(share), bar=bar, shade=status)
        group = (Cell(), Cell(), Cell())
    if summary.failed:
        yield *group, Cell(_failed_text(summary.failed)), Cell()


def regret_panel(results: Iterable[Result]) -> Group:
    """Return the mean regret of each Scientist."""
    rows = [
        (SCIENTISTS[player].name, Cell(regret_text(mean.value), mean.value), f"{mean.number:,}")
        for player, mean in regrets(results).items()
    ]
    columns = ("Scientist", Column("Mean regret", "number"), Column("Runs", "number"))
    table = blocks.table(REGRET_TITLE, columns, rows, kind="plain", scrolls=True)
    return blocks.group(Sentence(f"{REGRET_TITLE}.") if rows else None, table)


def batch_blocks(batch: Batch) -> Iterator[Block]:
    """Yield the outcomes and the mean regret of a batch, and its number of results if stopped."""
    results = batch.results
    if batch.stopped:
        yield Sentence(stopped_text(len(results), batch.asked))
    yield shares_panel(batch.summaries, {}, faults_text(result.error for result in results))
    yield regret_panel(results)
