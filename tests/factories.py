"""One factory per model: a small synthetic study, and a generous lab that passes every check.

Each factory takes the fields a test is about and fills in the rest; everything is built through
validation, so no test can hold a model that the code could not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from replicalab.measures import KINDS, DesignKind
from replicalab.models import (
    ConversationEntry,
    LabManagerAction,
    LabManagerObservation,
    Protocol,
    Record,
    ScientistAction,
    ScientistObservation,
)
from replicalab.scenarios import (
    AllowedSubstitution,
    Control,
    Design,
    Difficulty,
    Fact,
    HiddenReferenceSpec,
    Lab,
    Pack,
    Paper,
    PolicyRule,
    ScenarioConstraint,
    ScenarioResource,
    Study,
    Throughput,
)

M = TypeVar("M", bound=Record)

EQUIPMENT = ("growth chamber", "light meter")
REAGENTS = ("agar plates", "nutrient broth")
CONTROLS = ("dark control", "white light control")


def _build(model: type[M], defaults: Mapping[str, object], changes: Mapping[str, object]) -> M:
    """Return a validated ``model`` with ``changes`` over ``defaults``."""
    return model.model_validate({**defaults, **changes})


def make_protocol(**changes: object) -> Protocol:
    """Return the plan that the synthetic study asks for."""
    return _build(
        Protocol,
        {
            "sample_size": 40,
            "controls": list(CONTROLS),
            "technique": "germination count under blue light",
            "duration_days": 5,
            "required_equipment": list(EQUIPMENT),
            "required_reagents": list(REAGENTS),
            "rationale": "randomised trays and blinded counting keep the comparison fair",
        },
        changes,
    )


def make_scientist_action(**changes: object) -> ScientistAction:
    """Return a propose_protocol action that carries the plan of `make_protocol`."""
    plan = make_protocol().model_dump()
    return _build(
        ScientistAction, {"action_type": "propose_protocol", **plan, "questions": []}, changes
    )


def make_lab_manager_action(**changes: object) -> LabManagerAction:
    """Return an accept: every lab flag holds and nothing is suggested."""
    return _build(
        LabManagerAction,
        {
            "action_type": "accept",
            "feasible": True,
            "budget_ok": True,
            "equipment_ok": True,
            "reagents_ok": True,
            "schedule_ok": True,
            "staff_ok": True,
            "suggested_technique": "",
            "suggested_sample_size": 0,
            "suggested_controls": [],
            "explanation": "The plan fits this lab.",
        },
        changes,
    )


def make_entry(**changes: object) -> ConversationEntry:
    """Return a line in which the Lab Manager rejects a plan in round 0."""
    return _build(
        ConversationEntry,
        {
            "role": "lab_manager",
            "message": "The growth chamber is booked.",
            "round_number": 0,
            "action_type": "reject",
        },
        changes,
    )


def make_scientist_observation(**changes: object) -> ScientistObservation:
    """Return the first turn: no history, no plan, no offer."""
    return _build(
        ScientistObservation,
        {
            "paper_title": "Blue light and germination",
            "paper_hypothesis": "Blue light makes more seeds germinate than darkness.",
            "paper_method": "Seeds on agar under blue light or in darkness, counted blind.",
            "paper_key_finding": "More seeds germinated under blue light.",
            "experiment_goal": "Replicate the comparison of blue light with darkness.",
            "conversation_history": [],
            "current_protocol": None,
            "round_number": 0,
            "max_rounds": 5,
        },
        changes,
    )


def make_lab_manager_observation(**changes: object) -> LabManagerObservation:
    """Return a generous lab on the first turn: everything in stock and nothing booked."""
    return _build(
        LabManagerObservation,
        {
            "budget_total": 5000.0,
            "budget_remaining": 5000.0,
            "equipment_available": list(EQUIPMENT),
            "equipment_booked": [],
            "reagents_in_stock": list(REAGENTS),
            "reagents_out_of_stock": [],
            "staff_count": 6,
            "time_limit_days": 20,
            "safety_restrictions": ["No open flames."],
            "conversation_history": [],
            "current_protocol": None,
            "round_number": 0,
            "max_rounds": 5,
        },
        changes,
    )


def make_fact(**changes: object) -> Fact:
    """Return one verified statement about the synthetic study."""
    return _build(
        Fact,
        {
            "text": "Forty seeds were counted.",
            "source": "Invented for the tests",
            "confidence": "verified",
        },
        changes,
    )


def make_paper(**changes: object) -> Paper:
    """Return the synthetic published study."""
    return _build(
        Paper,
        {
            "title": "Blue light and germination",
            "citation": "Doe, J. (2001). Invented for the tests.",
            "doi": "10.1234/example.5678",
            "hypothesis": "Blue light makes more seeds germinate than darkness.",
            "method": "Seeds on agar under blue light or in darkness, counted blind.",
            "key_finding": "More seeds germinated under blue light.",
            "goal": "Replicate the comparison of blue light with darkness.",
            "published": "d = 0.9, n = 40",
            "caution": "Nothing follows for other species.",
            "teaches": "Controls cost less than samples.",
            "facts": [make_fact()],
        },
        changes,
    )


def make_design(**changes: object) -> Design:
    """Return a two-group design whose target is power 0.80 and whose floor is 0.50.

    A design of another kind is given what that kind needs, and no effect if it has none.
    """
    kind = KINDS[DesignKind(str(changes.get("kind", DesignKind.TWO_GROUP)))]
    effects = {"effect_published": 0.9, "effect_planning": 0.9, "sesoi": 0.5}
    return _build(
        Design,
        {
            "kind": kind.kind,
            **(effects if kind.effect else dict.fromkeys(effects)),
            "alpha": 0.05,
            "target": 0.8,
            "floor": 0.5,
            "unit_of_n": "seed tray",
            "population_max": None,
            "source": "Invented for the tests",
        },
        changes,
    )


def make_constraint(**changes: object) -> ScenarioConstraint:
    """Return a hard upper bound: at most 20 days."""
    return _build(
        ScenarioConstraint,
        {
            "key": "season",
            "label": "Time in the lab",
            "quantity": 20.0,
            "unit": "days",
            "comparator": "<=",
            "hard": True,
        },
        changes,
    )


def make_resource(**changes: object) -> ScenarioResource:
    """Return a growth chamber that is free."""
    return _build(
        ScenarioResource,
        {
            "key": "growth_chamber",
            "label": EQUIPMENT[0],
            "quantity": 1.0,
            "unit": "unit",
            "available": True,
            "category": "equipment",
            "booked_until_day": None,
        },
        changes,
    )


def make_substitution(**changes: object) -> AllowedSubstitution:
    """Return the allowed replacement of the growth chamber."""
    return _build(
        AllowedSubstitution,
        {
            "original": EQUIPMENT[0],
            "alternative": "window shelf",
            "condition": "when the chamber is booked",
            "tradeoff": "temperature varies more",
            "fidelity_loss": 1,
        },
        changes,
    )


def make_hidden_reference(**changes: object) -> HiddenReferenceSpec:
    """Return what a judge of the synthetic study looks for; `make_protocol` addresses it."""
    return _build(
        HiddenReferenceSpec,
        {
            "summary": "A randomised comparison with blinded counting.",
            "required_elements": ["dark control", "blinded counting"],
            "flexible_elements": ["number of seeds per tray"],
            "target_metric": "germination rate",
            "target_value": "higher under blue light",
        },
        changes,
    )


def make_control(**changes: object) -> Control:
    """Return the control that may not be dropped."""
    return _build(
        Control,
        {
            "name": CONTROLS[0],
            "droppable": False,
            "protects_against": "germination that needs no light",
        },
        changes,
    )


def make_policy_rule(**changes: object) -> PolicyRule:
    """Return the rule of the synthetic lab, which `make_protocol` keeps."""
    return _build(
        PolicyRule,
        {
            "key": "no_open_flames",
            "restriction": "No open flames.",
            "forbidden_phrases": ["open flame"],
        },
        changes,
    )


def make_throughput(**changes: object) -> Throughput:
    """Return a throughput of 20 samples a day."""
    return _build(Throughput, {"value": 20, "why": "two trays an hour"}, changes)


def make_lab(**changes: object) -> Lab:
    """Return a lab of a study file: generous, with nothing booked or out of stock."""
    return _build(Lab, {"budget": 5000.0, "days": 20, "staff": 6}, changes)


def make_study(**changes: object) -> Study:
    """Return the synthetic study file, with three equally generous labs."""
    return _build(
        Study,
        {
            "format": 1,
            "scenario_id": "blue_light",
            "domain_id": "plant_biology",
            "paper": make_paper(),
            "design": make_design(),
            "success_criteria": ["Germination rates of both groups are compared."],
            "hidden_reference": make_hidden_reference(),
            "constraints": [make_constraint()],
            "equipment": list(EQUIPMENT),
            "reagents": list(REAGENTS),
            "substitutions": [make_substitution()],
            "controls": [
                make_control(),
                make_control(name=CONTROLS[1], droppable=True, protects_against="any light"),
            ],
            "policy_rules": [make_policy_rule()],
            "min_days": 3,
            "samples_per_day": None,
            "reference_protocol": make_protocol(),
            "labs": {level: make_lab() for level in ("easy", "medium", "hard")},
        },
        changes,
    )


def make_pack(
    *,
    budget: float = 5000.0,
    days: int = 20,
    staff: int = 6,
    booked: Mapping[str, int] | None = None,
    out_of_stock: Sequence[str] = (),
    **changes: object,
) -> Pack:
    """Return the synthetic study in a lab of these means; in it `make_protocol` passes every check.

    Args:
        budget: credits.
        days: the lab's time limit.
        staff: the lab's staff units.
        booked: of the study's equipment, the day until which an item is booked.
        out_of_stock: of the study's reagents, what is missing.
        changes: other parts of the pack: fields of the pack, the study or the lab.
    """
    lab = make_lab(
        budget=budget, days=days, staff=staff, booked=dict(booked or {}),
        out_of_stock=list(out_of_stock),
    )  # fmt: skip
    pack = Pack(study=make_study(), difficulty=Difficulty.EASY, seed=0, lab=lab)
    return change_pack(pack, **changes)


def change_pack(pack: Pack, **changes: object) -> Pack:
    """Return a pack with some parts changed, wherever a pack keeps them.

    Args:
        pack: the pack.
        changes: fields of the pack, the study or the lab, by their names on the pack.
    """
    in_study = {_IN_STUDY.get(name, name): value for name, value in changes.items()
                if _IN_STUDY.get(name, name) in Study.model_fields}  # fmt: skip
    in_lab = {name: value for name, value in changes.items() if name in Lab.model_fields}
    own = {name: value for name, value in changes.items() if name in Pack.model_fields}
    if unknown := {*changes} - {*in_lab, *own, *_IN_STUDY} - {*Study.model_fields}:
        raise ValueError(f"no part of a pack: {sorted(unknown)}")
    study = pack.study.model_copy(update=in_study) if in_study else pack.study
    lab = pack.lab.model_copy(update=in_lab) if in_lab else pack.lab
    return pack.model_copy(update={"study": study, "lab": lab, **own})


_IN_STUDY = {
    "allowed_substitutions": "substitutions",
    "hidden_reference_spec": "hidden_reference",
}
"""The names on a pack of what a study calls otherwise."""


def with_means(pack: Pack, **means: Any) -> Pack:
    """Return the same study in a lab of other means, as `Lab.with_means` takes them."""
    return pack.in_lab(pack.lab.with_means(**means))
