"""The command `portfolio`."""

from dataclasses import dataclass
from typing import Annotated, Final

from typer import Option

from replicalab.cli import commands
from replicalab.cli.commands import Answer
from replicalab.facts import record_facts
from replicalab.features import portfolio as feature

_LAB: Final = "--set own_lab.budget=1200 --set own_lab.days=12 --set own_lab.staff=4"


@dataclass(kw_only=True)
class PortfolioOptions(commands.Options):
    """The options of `portfolio`."""

    worth: commands.Numbers = None
    floor_share: Annotated[float, Option(min=0, max=1, help="Share at the floor.")] = 0.0


def command(_: object) -> None:
    commands.command(
        *("studies", *commands.LAB[1:], "worth", "floor_share"),
        codes="0 if every named study is run, 1 if one is omitted",
        example=f"psy_stroop ml_rl_seeds {_LAB} --worth psy_stroop=2",
        options=PortfolioOptions,
    )(portfolio)


def portfolio(options: PortfolioOptions) -> Answer:
    """Choose the studies that one lab runs with one budget, and a plan of each."""
    packs = []
    for name in options.studies:
        study, _ = commands.study_at(name)
        packs.append(commands.pack_of(commands.case_of(options, study, options.lab, {}), study))
    worth = commands.numbers("--worth", options.worth, "psy_stroop=2")
    result = feature.portfolio(packs, worth=worth, floor_share=options.floor_share)
    data = {
        **record_facts.fields(result, "exact", "worth", "credits", "budget", "loss", "last"),
        "studies": [*map(feature.row_of, result.chosen)],
        "left_out": [
            {"id": packs[study.place].scenario_id, "text": study.text(result.currency)}
            for study in result.left_out
        ],
    }
    return Answer(1 if result.left_out else 0, [feature.portfolio_panel(result)], lambda: data)
