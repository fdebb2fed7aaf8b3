"""The command `critique`."""

from typer import Typer

from replicalab.cli import asking, commands
from replicalab.cli.plans import opening
from replicalab.cli.printing import Answer
from replicalab.facts import records
from replicalab.facts.blocks import Heading, Table
from replicalab.features.critique import Remark, RemarkStanding
from replicalab.features.critique import critique as remarks_on
from replicalab.features.critique.views import critique_blocks


def command(_: Typer) -> None:
    """Register the command."""
    codes = "0 without concerns, 1 with one or more"
    commands.command(*commands.PLAN, "answers", codes=codes, example="psy_stroop")(critique)


def critique(options: commands.Options) -> Answer:
    """List a reviewer's questions about a plan, each with the place of its remedy."""
    analysis, case = asking.analysis(options, registration=asking.answers(options))
    plan = analysis.yours
    remarks = remarks_on(plan, case.registration)
    blocks = [*opening(plan)]
    for block in critique_blocks(remarks):
        if isinstance(block, Table) and block.rows:
            blocks.append(Heading(block.caption))
        blocks.append(block)
    code = 1 if any(each.standing is RemarkStanding.CONCERN for each in remarks) else 0
    data = {**records.place(plan.pack), **records.plan(plan), "critique": [*map(_row, remarks)]}
    return Answer(code, blocks, lambda: data)


def _row(remark: Remark) -> dict[str, str]:
    return {
        "question": remark.key,
        "asks": remark.asks,
        "standing": remark.standing.name.lower(),
        "text": remark.text,
        "who": remark.finder.name.lower() if remark.finder else "",
        **remark.place._asdict(),
    }
