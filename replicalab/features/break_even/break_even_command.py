"""The command `break-even`."""

from dataclasses import dataclass

from replicalab.cli import commands
from replicalab.cli.commands import Answer
from replicalab.cli.plan_commands import opening
from replicalab.facts import record_facts
from replicalab.features import break_even as feature


@dataclass(kw_only=True)
class WorldOptions(commands.Options):
    """The options of `break-even`."""

    hopeful: commands.Numbers = None
    grim: commands.Numbers = None


def command(_: object) -> None:
    names, codes = (*commands.PLAN, "hopeful", "grim"), "0 if the plan passes, 1 if it does not"
    example = "psy_stroop --grim budget=800"
    commands.command(*names, codes=codes, example=example, options=WorldOptions)(break_even)


def break_even(options: WorldOptions) -> Answer:
    """Show how far each assumption may move, and the most robust plan over three worlds."""
    analysis, _ = commands.analysis(options)
    plan, rows = analysis.yours, feature.break_evens(analysis.yours)
    typed = {"hopeful": options.hopeful, "grim": options.grim}
    numbers = {name: commands.numbers(f"--{name}", typed[name], "budget=800") for name in typed}
    robust = feature.robust_plan(plan, **numbers)
    data = {
        **record_facts.place(plan.pack),
        **record_facts.plan(plan),
        "holds": plan.passes,
        "break_evens": [
            {"assumption": row.assumption.key}
            | record_facts.fields(row.assumption, "label", "now")
            | record_facts.fields(row, "to", "change")
            for row in rows
        ],
        "worlds": {
            name: {key: row.now for key, row in world.items()}
            for name, world in feature.values_in(robust).items()
        },
        "least_loss": {**record_facts.plan(robust.least), "regrets": robust.regrets(robust.least)},
        "most_robust": {**record_facts.plan(robust.plan), "regrets": robust.regrets(robust.plan)},
        "exact": robust.exact,
    }
    blocks = [*opening(plan), *feature.blocks_of(plan, rows, robust)]
    return Answer(int(not plan.passes), blocks, lambda: data)
