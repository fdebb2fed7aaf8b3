"""``critique``: what a reviewer would ask of a plan, and where it is mended."""

import argparse
from collections.abc import Iterator
from typing import Final

from replicalab.assessment import Assessment
from replicalab.cli import asking, facts
from replicalab.cli.check import heading
from replicalab.cli.printing import Answer
from replicalab.critique import Remark, RemarkStanding, critique
from replicalab.render import terminal
from replicalab.views.blocks import Sentence, Table
from replicalab.views.critique import critique_blocks
from replicalab.views.verdicts import plan_verdict

ABOUT: Final = "What a reviewer would ask of a plan, and where each answer is mended."
CODES: Final = "0 where no question raises a concern, 1 where one does"
EXAMPLES: Final = (
    "critique psy_stroop",
    "critique bio_jq1_myeloma --lab hard --json",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_case(parser)
    asking.add_answers(parser)


def answer(asked: argparse.Namespace) -> Answer:
    """Return the questions of a reviewer."""
    plan = asking.analysis(asked).yours
    remarks = critique(plan, asking.answers(asked))
    code = 1 if any(each.standing is RemarkStanding.CONCERN for each in remarks) else 0
    return Answer(code, _lines(plan, remarks), lambda: facts.critiqued(plan, remarks))


def _lines(plan: Assessment, remarks: tuple[Remark, ...]) -> Iterator[str]:
    yield heading(plan)
    yield terminal.verdict_line(plan_verdict(plan))
    for block in critique_blocks(remarks):
        if isinstance(block, Table) and block.rows:
            yield from terminal.section(block.caption, terminal.records(block))
        elif isinstance(block, Sentence):
            yield from ("", block.text)
