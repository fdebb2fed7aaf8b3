"""The curves of power analysis in words, and the effects of an original, by hand."""

from collections.abc import Iterator

from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.facts import curve_facts
from replicalab.facts.blocks import Table
from replicalab.models import revise
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, Difficulty, list_scenarios, load_scenario
from tests.designs.examples import design_of
from tests.designs.test_originals import original_of
from tests.factories import make_design, make_pack, make_protocol
from tests.golden import assert_golden


def of_kind(design: Design) -> Curves:
    return Curves(assess(make_protocol(sample_size=152), make_pack(design=design)))


def sentences(curves: Curves) -> Iterator[str]:
    yield curve_facts.samples_title(curves)
    yield curve_facts.assumed_text(curves)
    if curves.effects:
        yield curve_facts.effect_title(curves)
    yield curve_facts.bound_text(curves)


def rows(curves: Curves) -> Iterator[str]:
    for row in (*curve_facts.samples_rows(curves), *curve_facts.effect_rows(curves)):
        yield " | ".join(filter(None, (cell.text for cell in row)))


def test_sentences_on_curves() -> None:
    shipped = {
        study.scenario_id: load_scenario(study.scenario_id, Difficulty.MEDIUM)
        for study in list_scenarios()
    }
    plans = {name: Curves(assess(p.reference_protocol, p)) for name, p in shipped.items()}
    plans |= {f"{kind}, 15 % dropout": of_kind(design_of(kind, dropout=0.15)) for kind in KINDS}
    plans["paired, one-sided"] = of_kind(design_of("paired", sides=1))
    texts = [" | ".join([name, *filter(None, sentences(curves))]) for name, curves in plans.items()]
    reef = load_scenario("eco_reef_fish", Difficulty.EASY)
    short = revise(shipped["psy_ego_depletion"].reference_protocol, duration_days=2)
    for name, curves in {
        "a table with dropout": plans["two_group, 15 % dropout"],
        "more than exist": Curves(assess(revise(reef.reference_protocol, sample_size=400), reef)),
        "too few days": Curves(assess(short, shipped["psy_ego_depletion"])),
    }.items():
        texts += ["", " | ".join([name, *filter(None, sentences(curves))]), *rows(curves)]
    assert_golden("curves", "\n".join(texts))


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


def effects_of(lines: Curves) -> dict[str, tuple[str, ...]]:
    [table] = [block for block in curve_facts.original_blocks(lines) if isinstance(block, Table)]
    return {row[0].text: tuple(cell.text for cell in row[1:]) for row in table.rows}


def test_effects_table_has_samples_and_evidence() -> None:
    record = effects_of(curves(design_with(effect=0.5, n=40)))
    # 64 and 308 an arm; the powers at 64 an arm are 0.8015 and 0.2458 (by scipy).
    assert record["Planned"] == ("0.5", "128", "0.801")
    assert record["Safeguard"] == ("0.226", "616", "0.25")
    # Its 20 an arm had a power of 0.338 at d 0.5, so that d33 is 0.4959.
    assert record["Small telescopes"][0] == "0.496"
    # 1 - 1/2.5 of 0.5.
    assert record["Shrunken"][0] == "0.3"
