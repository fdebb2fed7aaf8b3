"""The original, and each effect to plan with, in numbers worked out by hand."""

from replicalab.assessment import assess
from replicalab.facts import curves as facts
from replicalab.facts.blocks import Table
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design
from tests.designs.test_originals import original_of
from tests.factories import make_design, make_pack, make_protocol


def design_with(kind: str = "two_group", **reported: object) -> Design:
    return make_design(
        kind=kind,
        effect_published=None,
        effect_planning=0.5,
        sesoi=None,
        original=dict(original_of(**reported)),
    )


def curves(design: Design, samples: int = 128) -> Curves:
    return Curves(assess(make_protocol(sample_size=samples), make_pack(design=design)))


def rows(lines: Curves) -> dict[str, tuple[str, ...]]:
    [table] = [block for block in facts.original_blocks(lines) if isinstance(block, Table)]
    return {row[0].text: tuple(cell.text for cell in row[1:]) for row in table.rows}


def test_effects_table_has_samples_and_evidence() -> None:
    record = rows(curves(design_with(effect=0.5, n=40)))
    # 64 and 308 an arm; the powers at 64 an arm are 0.8015 and 0.2458 (by scipy).
    assert record["Planned"] == ("0.5", "128", "0.801")
    assert record["Safeguard"] == ("0.226", "616", "0.25")
    # Its 20 an arm had a power of 0.338 at d 0.5, so that d33 is 0.4959.
    assert record["Small telescopes"][0] == "0.496"
    # 1 - 1/2.5 of 0.5.
    assert record["Shrunken"][0] == "0.3"
