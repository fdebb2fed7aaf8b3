"""What changes between two plans, and what each change saves and loses."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from replicalab.agents import SuggestionChange, check_feasibility, suggest_alternative
from replicalab.agents.suggestions import DROPPED
from replicalab.concessions import (
    change_concessions,
    dropped_controls,
    plan_concession,
    plan_differences,
    price,
)
from replicalab.models import FIELD_LABELS, PROTOCOL_FIELDS, Protocol
from replicalab.scenarios import Pack, load_scenario
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    REAGENTS,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
)
from tests.strategies import itemised_protocols, studied_packs

CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS
MOMENTUM: Final = load_scenario("fin_momentum", "medium")
JQ1: Final = load_scenario("bio_jq1_myeloma", "hard")


def test_field_labels_name_every_field_in_the_protocols_order() -> None:
    assert tuple(FIELD_LABELS) == PROTOCOL_FIELDS


def test_price_is_what_the_fact_sheet_says_of_the_momentum_plan() -> None:
    found = price(MOMENTUM.reference_protocol, MOMENTUM)
    assert (found.credits, found.fidelity_loss) == (3850, 0)
    assert found.evidence.text == "power 0.86"


def test_price_counts_the_fidelity_that_substitutions_lose() -> None:
    swaps = [
        make_substitution(original=CHAMBER, alternative="shelf", fidelity_loss=2),
        make_substitution(original=PLATES, alternative="paper", fidelity_loss=1),
    ]
    protocol = make_protocol(required_equipment=["shelf"], required_reagents=["paper"])
    assert price(protocol, make_pack(allowed_substitutions=swaps)).fidelity_loss == 3


def test_price_counts_each_control_of_the_study_that_the_plan_does_without() -> None:
    pack = make_pack()
    assert price(make_protocol(), pack).dropped == ()
    found = price(make_protocol(controls=["a control of its own"]), pack)
    assert [control.name for control in found.dropped] == list(CONTROLS)
    assert (found.fidelity_loss, found.loss) == (0, 2)


def test_loss_adds_the_substitutions_and_the_dropped_controls() -> None:
    swap = make_substitution(original=CHAMBER, alternative="shelf", fidelity_loss=2)
    plan = make_protocol(required_equipment=["shelf"], controls=[CONTROLS[0]])
    found = price(plan, make_pack(allowed_substitutions=[swap]))
    assert (found.fidelity_loss, len(found.dropped), found.loss) == (2, 1, 3)


def test_dropped_controls_are_told_by_name_in_the_studys_order() -> None:
    pack = make_pack()
    dark, white = pack.controls
    assert dropped_controls(make_protocol(controls=[]), pack) == [dark, white]
    same = make_protocol(controls=[f"  {CONTROLS[1].upper()} "])
    assert dropped_controls(same, pack) == [dark]
    assert dropped_controls(make_protocol(controls=[CONTROLS[0], CONTROLS[0]]), pack) == [white]


def test_change_concession_of_a_dropped_control_saves_its_credits_and_adds_its_loss() -> None:
    change = SuggestionChange(
        field="controls", original=CONTROLS[1], revised=DROPPED, reason="why", tradeoff="what"
    )
    (found,) = change_concessions(make_protocol(), [change], make_pack())
    assert (found.label, found.before, found.after) == ("Controls", CONTROLS[1], "dropped")
    assert found.credits_saved == 25
    assert (found.old.loss, found.new.loss) == (0, 1)


def test_change_concessions_price_each_change_of_the_momentum_offer_in_turn() -> None:
    protocol = MOMENTUM.reference_protocol
    suggestion = suggest_alternative(protocol, check_feasibility(protocol, MOMENTUM), MOMENTUM)
    assert suggestion is not None
    found = change_concessions(protocol, suggestion.applied_changes, MOMENTUM)
    rows = [(c.label, c.before, c.after, c.credits_saved, c.evidence_text) for c in found]
    extract = "vendor-approved extract on the research server"
    assert rows == [
        ("Equipment", "licensed-data terminal", extract, 0, "power 0.86, unchanged"),
        ("Duration", "8", "6", 100, "power 0.86, unchanged"),
        ("Sample size", "300", "150", 1500, "power 0.86 → 0.58"),
    ]
    assert [c.evidence_changed for c in found] == [False, False, True]


def test_change_concession_that_loses_the_endpoint_ends_in_no_evidence() -> None:
    protocol = JQ1.reference_protocol
    suggestion = suggest_alternative(protocol, check_feasibility(protocol, JQ1), JQ1)
    assert suggestion is not None
    found = change_concessions(protocol, suggestion.applied_changes, JQ1)
    (clamp,) = [concession for concession in found if concession.label == "Duration"]
    assert clamp.evidence_text.endswith(" → no evidence")
    after = found[found.index(clamp) + 1 :]
    assert {concession.evidence_text for concession in after} <= {"no evidence, unchanged"}


@given(itemised_protocols(), studied_packs())
def test_change_concessions_lead_from_the_plan_to_the_offer(protocol: Protocol, pack: Pack) -> None:
    suggestion = suggest_alternative(protocol, check_feasibility(protocol, pack), pack)
    if suggestion is None or not suggestion.applied_changes:
        return
    found = change_concessions(protocol, suggestion.applied_changes, pack)
    assert len(found) == len(suggestion.applied_changes)
    assert found[0].old == price(protocol, pack)
    assert found[-1].new == price(suggestion.revised_protocol, pack)
    assert [c.old for c in found[1:]] == [c.new for c in found[:-1]]
    assert sum(c.credits_saved for c in found) == pytest.approx(
        suggestion.pre_check.estimated_cost - suggestion.post_check.estimated_cost
    )


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({"sample_size": 20}, ("Sample size", "40", "20")),
        ({"duration_days": 1}, ("Duration", "5 days", "1 day")),
        ({"technique": "photo"}, ("Technique", "germination count under blue light", "photo")),
        ({"controls": ["dark control"]}, ("Controls", "white light control", "–")),
        ({"required_equipment": ["shelf", METER]}, ("Equipment", CHAMBER, "shelf")),
        (
            {"required_reagents": [PLATES, BROTH, PLATES]},
            ("Reagents", "–", PLATES),
        ),
        ({"required_reagents": ["ink", "gel"]}, ("Reagents", f"{PLATES}, {BROTH}", "ink, gel")),
    ],
)
def test_plan_differences_show_what_left_and_what_came(
    changes: dict[str, object], row: tuple[str, str, str]
) -> None:
    after = make_protocol(**changes)
    assert plan_differences(make_protocol(), after) == [row]
    label, gone, come = row
    assert plan_differences(after, make_protocol()) == [(label, come, gone)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"required_equipment": [METER, CHAMBER]},
        {"required_equipment": [CHAMBER.upper(), f"light   {METER.split()[1]}"]},
    ],
)
def test_plan_differences_are_none_between_equal_plans(changes: dict[str, object]) -> None:
    assert plan_differences(make_protocol(), make_protocol(**changes)) == []


def test_plan_concession_joins_every_difference() -> None:
    pack = make_pack(design=make_design(kind="paired", effect_planning=0.5))
    found = plan_concession(
        make_protocol(sample_size=34), make_protocol(sample_size=3, duration_days=3), pack
    )
    assert (found.label, found.before, found.after) == (
        "Sample size, Duration",
        "34; 5 days",
        "3; 3 days",
    )
    assert found.credits_saved == 310 + 100
    # G*Power 3.1: 34 pairs give power .81 at d = .5.
    assert found.old.evidence.text == "power 0.81"


def test_plan_concession_may_cost() -> None:
    found = plan_concession(make_protocol(), make_protocol(sample_size=41), make_pack())
    assert found.credits_saved == -10


def test_plan_concession_of_the_same_plan_says_so() -> None:
    found = plan_concession(make_protocol(), make_protocol(), make_pack())
    assert (found.label, found.before, found.after) == ("Nothing", "the same plan", "the same plan")
    assert (found.credits_saved, found.evidence_changed) == (0, False)


def test_evidence_that_moves_below_the_precision_shown_is_unchanged() -> None:
    pack = make_pack(design=make_design(effect_planning=2.0))
    found = plan_concession(make_protocol(), make_protocol(sample_size=39), pack)
    assert found.old.evidence.value != found.new.evidence.value
    assert found.evidence_text == "power 1.00, unchanged"
