"""``studies``: which studies there are."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Final

from replicalab.cli.printing import Answer, CommandError, say
from replicalab.lexicon import amount_text
from replicalab.render import terminal
from replicalab.scenarios import Guesser, ScenarioSummary, broken_scenarios, list_scenarios
from replicalab.tables.rows import study_row

ABOUT: Final = "Which studies there are, with their field, kind of design and sample."
CODES: Final = "0"
EXAMPLES: Final = ("studies", "studies --domain psychology --json")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--domain", help="of one field only")


def answer(asked: argparse.Namespace) -> Answer:
    """Return the studies; a file that is left out is named on standard error."""
    found = list_scenarios()
    for error in broken_scenarios():
        say(str(error))
    if asked.domain is not None:
        domains = sorted({study.domain_id for study in found})
        if asked.domain not in domains:
            remedy = Guesser().remedy(asked.domain, domains)
            raise CommandError(f"--domain '{asked.domain}' is unknown; {remedy}")
        found = [study for study in found if study.domain_id == asked.domain]
    return Answer(0, _lines(found), lambda: {"studies": [*map(study_row, found)]})


def _lines(found: Sequence[ScenarioSummary]) -> Iterator[str]:
    heads = ("ID", "NAME", "FIELD", "KIND", "N")
    rows = (
        (
            each.scenario_id,
            each.name,
            each.domain_id,
            str(each.kind),
            amount_text(each.reference_sample_size),
        )
        for each in found
    )
    yield from terminal.columns([heads, *rows], right=(4,))
