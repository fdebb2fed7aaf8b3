"""The open study: its choices, and the numbers of the lines of its file."""

import re
from xml.etree import ElementTree

from replicalab.assessment import assess
from replicalab.facts import study_facts
from replicalab.facts.plan_facts import asked_text
from replicalab.render.html import numbers_style
from replicalab.scenarios import Difficulty, EvidenceAssumptions, LabOverrides, load_scenario


def test_one_sided_test_is_named_with_its_alpha() -> None:
    question = EvidenceAssumptions(sides=1, why={"sides": "Slower, as published."})
    pack = load_scenario("psy_stroop", Difficulty.MEDIUM).with_own(LabOverrides(), question)
    plan = assess(pack.reference_protocol, pack)
    rows = {name: (value, why) for name, value, why in study_facts.choices(plan)}
    assert "The exact one-sided paired t-test" in rows["Test and method"][0]
    assert "Alpha, one-sided" in rows
    assert rows["Sides of the test"][1].startswith("Slower, as published.")
    assert asked_text(pack) == "one-sided, yours"


def test_editor_numbers_every_line() -> None:
    for text, minimum in (("", 1), ("a\nb", 2), ("\n" * 300, 301)):
        numbers = [int(n) for n in re.findall(r"%3E(\d+)%3C", numbers_style("key", text))]
        assert numbers == [*range(1, len(numbers) + 1)]
        assert minimum < len(numbers) < minimum + 100
    assert len(numbers_style("key", "\n" * 300_000)) < 200_000, "a small message"
    style = numbers_style("own_text", "a")
    assert ElementTree.fromstring(style).tag == "style"  # noqa: S314  # ours
    assert style.count("<") == 2
    assert ".st-key-own_text textarea" in style
