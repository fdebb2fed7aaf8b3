"""Who may sit at the table, and the rule that each follows, in one line for people."""

from __future__ import annotations

from typing import Final, NamedTuple

from replicalab.negotiation import LabManagerKind, ScientistKind


class Player(NamedTuple):
    """Who may sit at the table: the name, and the rule in one line."""

    name: str
    rule: str


SCIENTISTS: Final = {
    ScientistKind.BASELINE: Player(
        "Baseline",
        "Opens with your plan. While the answer names an obstacle it halves the sample and takes a "
        "day off; otherwise, and in the last round, it accepts.",
    ),
    ScientistKind.EVIDENCE_AWARE: Player(
        "Evidence-aware",
        "Opens with your plan. Takes an offer that meets the evidence target, else counters with "
        "the best plan this lab can run, and leaves when none reaches the floor.",
    ),
    ScientistKind.MODEL: Player(
        "Language model",
        "Chooses its own plans. Its text is only read as data: the checks decide, as for anyone.",
    ),
    ScientistKind.PERSON: Player(
        "You",
        "You propose, ask, accept or walk away, and see the Lab Manager's answer at each round.",
    ),
}
RECORDED: Final = Player(
    "Recorded run", "Shows a negotiation that was kept earlier. Nothing is asked of any model."
)
LAB_MANAGERS: Final = {
    LabManagerKind.REFERENCE: Player(
        "Reference",
        "Substitutes items, cuts days, then halves the sample until the budget fits.",
    ),
    LabManagerKind.LEAST_LOSS: Player(
        "Least-loss",
        "Offers the plan that this lab can run and that gives up the least evidence.",
    ),
}
