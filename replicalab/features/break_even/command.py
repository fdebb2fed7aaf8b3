"""The command `break-even`."""

from typer import Typer

from replicalab.cli import asking, commands
from replicalab.cli.commands import Answer
from replicalab.cli.plans import opening
from replicalab.facts import records
from replicalab.features import break_even as feature


def command(_: Typer) -> None:
    """Register the command."""
    codes = "0 if the plan passes, 1 if it does not"
    commands.command(*commands.PLAN, codes=codes, example="psy_stroop")(break_even)


def break_even(options: commands.Options) -> Answer:
    """Show how far each assumption may move before the verdict changes."""
    analysis, _ = asking.analysis(options)
    plan = analysis.yours
    rows = feature.break_evens(plan)
    data = {
        **records.place(plan.pack),
        **records.plan(plan),
        "holds": feature.passes(plan),
        "break_evens": [
            {
                "assumption": row.assumption.key,
                "label": row.assumption.label,
                "now": row.assumption.now,
                "to": row.to,
                "change": row.change,
            }
            for row in rows
        ],
    }
    blocks = [*opening(plan), *feature.break_even_blocks(plan, rows)]
    return Answer(int(not feature.passes(plan)), blocks, lambda: data)
