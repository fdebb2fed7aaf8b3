"""``portfolio``: the studies that one lab runs with one budget, and a plan of each."""

from replicalab import api
from replicalab.cli import asking, facts
from replicalab.cli.commands import LAB, Options, command
from replicalab.cli.printing import Answer, CommandError
from replicalab.lexicon import shortened
from replicalab.tables.rows import portfolio_row
from replicalab.views import portfolio as texts

_SHARED = "--set own_lab.budget=1200 --set own_lab.days=12 --set own_lab.staff=4"


@command(
    *("studies", *LAB[1:], "worth", "floor_share"),
    codes="0 if every named study is run, 1 if one is omitted",
    example=f"psy_stroop ml_rl_seeds {_SHARED} --worth psy_stroop=2",
)
def portfolio(options: Options) -> Answer:
    """Choose the studies that one lab runs with one budget, and a plan of each."""
    packs = []
    for name in options.studies:
        study, _ = asking.study_at(name)
        case = asking.case_of(options, study, options.lab, {})
        packs.append(asking.pack_of(case, study))
    worth = dict(map(_worth, options.worth or ()))
    chosen = api.portfolio(packs, worth=worth, floor_share=options.floor_share)
    left_out = [
        {"id": packs[study.place].scenario_id, "text": texts.left_out_text(study, chosen)}
        for study in chosen.left_out
    ]
    data = {
        **facts.fields(chosen, "exact", "worth", "credits", "budget", "loss", "last"),
        "studies": [*map(portfolio_row, chosen.chosen)],
        "left_out": left_out,
    }
    return Answer(1 if left_out else 0, [texts.portfolio_panel(chosen)], lambda: data)


def _worth(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        problem = f"--worth '{shortened(text)}' is no study with a number"
        raise CommandError(f"{problem}; write one such as psy_stroop=2") from None
