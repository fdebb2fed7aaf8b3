"""What a plan breaks of its study's wishes is told by each command that judges one."""

from __future__ import annotations

import json
from typing import Final

import pytest

from replicalab.cli import COMMANDS
from tests.cli.asking import Asking

STUDY: Final = "bio_jq1_myeloma"
ASKED: Final = {
    "check": f"check {STUDY} --days 28",
    "plan": f"plan {STUDY}",
    "negotiate": f"negotiate {STUDY}",
    "compare": f"compare {STUDY} --plan study --plan offer",
    "report": f"report {STUDY} --days 28",
}
"""In the medium lab, whose 28 days are too few for the survival follow-up."""
JUDGE_NO_PLAN: Final = {"studies", "batch", "serve"}


def test_every_command_is_asked_or_judges_no_plan() -> None:
    names = {command.__name__.rpartition(".")[2] for command in COMMANDS}
    assert names - {*ASKED} == JUDGE_NO_PLAN


@pytest.mark.parametrize("command", ASKED)
def test_command_tells_the_follow_up_that_is_lost(command: str, ask: Asking) -> None:
    assert "'survival follow-up'" in " ".join(ask(ASKED[command]).out.split())


@pytest.mark.parametrize("command", sorted({*ASKED} - {"report"}))  # whose JSON is the bundle
def test_command_tells_it_as_data(command: str, ask: Asking) -> None:
    found = json.dumps(ask(f"{ASKED[command]} --json").data)
    asks = '"key": "survival_window", "bounds": "days", "least": 36.0, "most": null'
    assert asks in found
