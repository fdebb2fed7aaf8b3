"""One factory per model: a small synthetic study, and a generous lab that passes every check."""

from collections.abc import Callable
from typing import Any, TypeVar

from replicalab import models, scenarios
from replicalab.designs import KINDS
from replicalab.negotiation import LabManagerKind, ScientistKind, Setup

M = TypeVar("M", bound=models.Record)

EQUIPMENT = ("growth chamber", "light meter")
REAGENTS = ("agar plates", "nutrient broth")
CONTROLS = ("dark control", "white light control")


def _factory(model: type[M], **defaults: object) -> Callable[..., M]:
    return lambda **changes: model.model_validate({**defaults, **changes})


make_protocol = _factory(
    models.Protocol,
    sample_size=40,
    controls=CONTROLS,
    technique="germination count under blue light",
    duration_days=5,
    required_equipment=EQUIPMENT,
    required_reagents=REAGENTS,
    rationale="randomised trays and blinded counting keep the comparison fair",
)
"""The plan that the synthetic study asks for."""

make_scientist_action = _factory(
    models.ScientistAction, action_type="propose_protocol", **dict(make_protocol()), questions=[]
)

make_entry = _factory(
    models.ConversationEntry,
    role="lab_manager",
    message="The growth chamber is booked.",
    round_number=0,
    action_type="reject",
)

make_paper = _factory(
    scenarios.Paper,
    title="Blue light and germination",
    citation="Doe, J. (2001). Invented for the tests.",
    doi="10.1234/example.5678",
    hypothesis="Blue light makes more seeds germinate than darkness.",
    method="Seeds on agar under blue light or in darkness, counted blind.",
    key_finding="More seeds germinated under blue light.",
    goal="Replicate the comparison of blue light with darkness.",
    published="d = 0.9, n = 40",
    caution="Nothing follows for other species.",
    teaches="Controls cost less than samples.",
    facts=[
        scenarios.Statement(
            text="Forty seeds were counted.",
            source="Invented",
            confidence=scenarios.Confidence.VERIFIED,
        )
    ],
)


def make_design(**changes: object) -> scenarios.Design:
    kind = KINDS[str(changes.get("kind", "two_group"))]
    effects = {"effect_published": 0.9, "effect_planning": 0.9, "sesoi": 0.5}
    needed = {"groups": 3, "margin": 1.2, "event_share": 0.6}
    return scenarios.Design.model_validate(
        {
            "kind": kind.kind,
            **(effects if kind.effect else dict.fromkeys(effects)),
            "alpha": 0.05,
            "target": 0.8,
            "floor": 0.5,
            "unit_of_n": "seed tray",
            "population_max": None,
            **{name: value for name, value in needed.items() if name in kind.needs},
            "source": "Invented for the tests",
            **changes,
        }
    )


make_constraint = _factory(
    scenarios.ScenarioConstraint,
    key="season",
    label="Time in the lab",
    quantity=20.0,
    unit="days",
    comparator="<=",
    hard=True,
)

make_substitution = _factory(
    scenarios.AllowedSubstitution,
    original=EQUIPMENT[0],
    alternative="window shelf",
    condition="when the chamber is booked",
    tradeoff="temperature varies more",
    fidelity_loss=1,
)

make_hidden_reference = _factory(
    scenarios.HiddenReferenceSpec,
    summary="A randomised comparison with blinded counting.",
    required_elements=["dark control", "blinded counting"],
    flexible_elements=["number of seeds per tray"],
    target_metric="germination rate",
    target_value="higher under blue light",
)
"""The hidden reference of the synthetic study; `make_protocol` addresses it."""

make_control = _factory(
    scenarios.Control,
    name=CONTROLS[0],
    droppable=False,
    protects_against="germination that needs no light",
)

make_policy_rule = _factory(
    scenarios.PolicyRule,
    key="no_open_flames",
    restriction="No open flames.",
    forbidden_phrases=["open flame"],
)
"""The rule of the synthetic lab, which `make_protocol` keeps."""

make_throughput = _factory(scenarios.Throughput, value=20, why="two trays an hour")

make_lab = _factory(scenarios.Lab, budget=5000.0, days=20, staff=6)

make_study = _factory(
    scenarios.Study,
    format=1,
    scenario_id="blue_light",
    domain_id="plant_biology",
    paper=make_paper(),
    design=make_design(),
    success_criteria=["Germination rates of both groups are compared."],
    hidden_reference=make_hidden_reference(),
    constraints=[make_constraint()],
    equipment=EQUIPMENT,
    reagents=REAGENTS,
    substitutions=[make_substitution()],
    controls=[
        make_control(),
        make_control(name=CONTROLS[1], droppable=True, protects_against="any light"),
    ],
    policy_rules=[make_policy_rule()],
    min_days=3,
    samples_per_day=None,
    reference_protocol=make_protocol(),
    labs={level: make_lab() for level in scenarios.Difficulty},
)
"""The synthetic study file, with three equally generous labs."""


def make_pack(**changes: object) -> scenarios.Pack:
    pack = scenarios.Pack(
        study=make_study(), difficulty=scenarios.Difficulty.EASY, seed=0, lab=make_lab()
    )
    return change_pack(pack, **changes)


def make_scientist_observation(**changes: object) -> models.ScientistObservation:
    first = make_pack().scientist_observation.model_dump()
    return models.ScientistObservation.model_validate({**first, **changes})


def change_pack(pack: scenarios.Pack, **changes: object) -> scenarios.Pack:
    in_study, in_lab, record = (
        {
            fields.get(name, name): value
            for name, value in changes.items()
            if fields.get(name, name) in model.model_fields
        }
        for model, fields in (
            (scenarios.Study, _IN_STUDY),
            (scenarios.Lab, _LAB),
            (scenarios.Pack, {}),
        )
    )
    texts = {
        *_IN_STUDY,
        *_LAB,
        *scenarios.Study.model_fields,
        *scenarios.Lab.model_fields,
        *scenarios.Pack.model_fields,
    }
    if unknown := {*changes} - texts:
        raise ValueError(f"no part of a pack: {sorted(unknown)}")
    study = pack.study.model_copy(update=in_study) if in_study else pack.study
    lab = pack.lab.model_copy(update=in_lab) if in_lab else pack.lab
    return pack.model_copy(update={"study": study, "lab": lab, **record})


_IN_STUDY = {"allowed_substitutions": "substitutions", "hidden_reference_spec": "hidden_reference"}
"""Names on a pack that differ from the study's."""
_LAB = {"equipment": "", "reagents": "", "own_equipment": "equipment", "own_reagents": "reagents"}
"""Names on a pack that differ from the lab's; the study's items are not the lab's own."""


def with_means(pack: scenarios.Pack, **means: Any) -> scenarios.Pack:
    return pack.in_lab(pack.lab.with_means(**means))


def make_setup(
    pack: scenarios.Pack,
    opening: models.Protocol | None = None,
    max_rounds: int = scenarios.MAX_ROUNDS,
    *,
    scientist: ScientistKind,
    lab_manager: LabManagerKind,
) -> Setup:
    return Setup(
        scenario_id=pack.scenario_id,
        difficulty=pack.difficulty,
        seed=pack.seed,
        scientist=scientist,
        lab_manager=lab_manager,
        max_rounds=max_rounds,
        opening=opening,
        own_lab=pack.own_lab,
        question=pack.question,
    )
