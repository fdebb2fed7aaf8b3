"""The command `critique`."""

from replicalab.cli import commands
from replicalab.cli.commands import Answer
from replicalab.cli.plan_commands import opening
from replicalab.facts import record_facts
from replicalab.facts.blocks import Block, Heading, Table
from replicalab.features import critique as feature


def command(_: object) -> None:
    codes = "0 without concerns, 1 with one or more"
    commands.command(*commands.PLAN, "answers", codes=codes, example="psy_stroop")(critique)


def critique(options: commands.Options) -> Answer:
    """List a reviewer's questions about a plan, each with the place of its remedy."""
    analysis, case = commands.analysis(options, registration=commands.answers(options))
    plan = analysis.yours
    remarks = feature.critique(plan, case.registration)
    blocks: list[Block | str | None] = [*opening(plan)]
    for block in feature.critique_blocks(remarks):
        if isinstance(block, Table) and block.rows:
            blocks.append(Heading(block.caption))
        blocks.append(block)
    rows = [
        {
            "question": remark.key,
            "asks": remark.question,
            "standing": remark.standing,
            "text": remark.text,
            "who": remark.source.name.lower() if remark.source else "",
            **remark.place._asdict(),
        }
        for remark in remarks
    ]
    data = {**record_facts.place(plan.pack), **record_facts.plan(plan), "critique": rows}
    has_concern = any(remark.standing is feature.Standing.CONCERN for remark in remarks)
    return Answer(int(has_concern), blocks, lambda: data)
