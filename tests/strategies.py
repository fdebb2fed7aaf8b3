"""Hypothesis strategies for the models that everyone shares, for packs and for whole studies."""

from __future__ import annotations

from typing import Final, TypeVar

from hypothesis import strategies as st

from replicalab.lexicon import label_key
from replicalab.measures import KINDS, Kind
from replicalab.models import (
    ACCEPT_ACTION,
    LAB_DIMENSIONS,
    PROTOCOL_FIELDS,
    ConversationEntry,
    Dimension,
    LabManagerAction,
    LabManagerActionType,
    LabManagerObservation,
    Protocol,
    Role,
    ScientistAction,
    ScientistActionType,
    ScientistObservation,
    revise,
)
from replicalab.negotiation import By, Turn
from replicalab.scenarios import (
    LAB_CONSTRAINTS,
    MOST,
    AllowedSubstitution,
    Bounds,
    Comparator,
    Confidence,
    Control,
    CostModel,
    Design,
    DesignKind,
    EvidenceTier,
    ExpectedOutcome,
    Fact,
    HiddenReferenceSpec,
    Lab,
    Labs,
    Pack,
    Paper,
    PolicyRule,
    ScenarioConstraint,
    StaffModel,
    Study,
)
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    REAGENTS,
    change_pack,
    make_lab_manager_observation,
    make_pack,
    make_scientist_observation,
    make_substitution,
    make_throughput,
)

T = TypeVar("T")

texts = st.text(max_size=40).map(str.strip)
"""Any text a model keeps as it is: stripped, without lone surrogates."""
words = texts.filter(bool)
"""Text that is not blank."""
labels = st.one_of(st.sampled_from([*EQUIPMENT, *REAGENTS, *CONTROLS, "window shelf"]), words)
"""Labels of items and controls, often ones that the synthetic lab knows."""
counts = st.integers(min_value=0, max_value=10**6)
"""Whole numbers as a plan has them, far beyond what any lab can hold."""


def lists_of(items: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    """Return short lists of ``items``; repeats are allowed, as they are in a plan."""
    return st.lists(items, max_size=4)


@st.composite
def protocols(
    draw: st.DrawFn,
    sample_size: st.SearchStrategy[int] = counts,
    duration_days: st.SearchStrategy[int] = counts,
) -> Protocol:
    """Return any valid plan."""
    return Protocol(
        sample_size=draw(sample_size),
        controls=draw(lists_of(labels)),
        technique=draw(words),
        duration_days=draw(duration_days),
        required_equipment=draw(lists_of(labels)),
        required_reagents=draw(lists_of(labels)),
        rationale=draw(words),
    )


@st.composite
def scientist_actions(draw: st.DrawFn) -> ScientistAction:
    """Return any valid action of the Scientist, each type as often as the others."""
    kind = draw(st.sampled_from(ScientistActionType))
    fields: dict[str, object] = {**ACCEPT_ACTION.model_dump(), "action_type": kind}
    if kind is ScientistActionType.REQUEST_INFO:
        fields["questions"] = draw(st.lists(words, min_size=1, max_size=4))
    elif kind is not ScientistActionType.ACCEPT:
        plan = draw(protocols(sample_size=st.integers(1, 10**6)))
        fields |= {name: getattr(plan, name) for name in PROTOCOL_FIELDS}
    return ScientistAction.model_validate(fields)


def turns() -> st.SearchStrategy[Turn]:
    """Return any turn of a person: an action or walking away."""
    return st.builds(Turn, action=st.none() | scientist_actions(), by=st.just(By.PERSON))


@st.composite
def lab_manager_actions(draw: st.DrawFn) -> LabManagerAction:
    """Return any valid answer of the Lab Manager."""
    kind = draw(st.sampled_from(LabManagerActionType))
    flags = draw(_lab_flags(kind))
    suggests = kind is LabManagerActionType.SUGGEST_ALTERNATIVE
    return LabManagerAction(
        action_type=kind,
        feasible=all(flags),
        **dict(zip([f"{dimension}_ok" for dimension in LAB_DIMENSIONS], flags, strict=True)),
        suggested_technique=draw(words) if suggests else "",
        suggested_sample_size=draw(counts) if suggests else 0,
        suggested_controls=draw(lists_of(labels)) if suggests else [],
        explanation=draw(words),
    )


def _lab_flags(kind: LabManagerActionType) -> st.SearchStrategy[list[bool]]:
    """Return the five lab flags that an answer of that kind may carry."""
    flags = st.lists(st.booleans(), min_size=len(LAB_DIMENSIONS), max_size=len(LAB_DIMENSIONS))
    if kind is LabManagerActionType.ACCEPT:
        return st.just([True] * len(LAB_DIMENSIONS))
    if kind is LabManagerActionType.REPORT_FEASIBILITY:
        return flags
    return flags.filter(lambda drawn: not all(drawn))


@st.composite
def entries(draw: st.DrawFn) -> ConversationEntry:
    """Return any line of a conversation, with an action of its role or none."""
    role = draw(st.sampled_from(Role))
    kinds: list[str | None] = [None]
    if role is Role.SCIENTIST:
        kinds += ScientistActionType
    elif role is Role.LAB_MANAGER:
        kinds += LabManagerActionType
    return ConversationEntry(
        role=role,
        message=draw(words),
        round_number=draw(st.integers(0, 20)),
        action_type=draw(st.sampled_from(kinds)),
    )


@st.composite
def scientist_observations(draw: st.DrawFn) -> ScientistObservation:
    """Return any turn of the Scientist, early or late, with or without a plan or an offer."""
    return make_scientist_observation(
        paper_title=draw(words),
        paper_method=draw(words),
        conversation_history=draw(lists_of(entries())),
        current_protocol=draw(st.none() | protocols()),
        suggested_protocol=draw(st.none() | protocols()),
        round_number=draw(st.integers(0, 8)),
        max_rounds=draw(st.integers(0, 8)),
    )


@st.composite
def lab_manager_observations(draw: st.DrawFn) -> LabManagerObservation:
    """Return any turn of the Lab Manager."""
    return make_lab_manager_observation(
        budget_remaining=draw(st.floats(0, 1e9)),
        equipment_available=draw(lists_of(labels)),
        conversation_history=draw(lists_of(entries())),
        current_protocol=draw(st.none() | protocols()),
        staff_count=draw(st.integers(0, 20)),
    )


@st.composite
def packs(draw: st.DrawFn) -> Pack:
    """Return the synthetic study in any lab: poor or rich, with anything missing."""
    return make_pack(
        budget=float(draw(st.integers(1, 6000))),
        days=draw(st.integers(1, 30)),
        staff=draw(st.integers(1, 8)),
        booked=draw(st.dictionaries(st.sampled_from(EQUIPMENT), st.integers(1, 30))),
        out_of_stock=draw(st.lists(st.sampled_from(REAGENTS), unique=True)),
    )


@st.composite
def lab_sized_protocols(draw: st.DrawFn) -> Protocol:
    """Return a plan whose numbers are near what the labs of `packs` can hold."""
    return draw(protocols(sample_size=st.integers(0, 200), duration_days=st.integers(0, 30)))


items = st.sampled_from([*EQUIPMENT, *REAGENTS, "window shelf", "tap water", "open flame burner"])
"""Items that the labs of `studied_packs` have, lack, may replace, do not know or forbid."""


@st.composite
def studied_packs(draw: st.DrawFn) -> Pack:
    """Return a pack whose substitutions, rates, throughput and least days vary as well."""
    pack = draw(packs())
    swaps = st.builds(
        lambda original, alternative: make_substitution(original=original, alternative=alternative),
        st.sampled_from([*EQUIPMENT, *REAGENTS]),
        items,
    )
    rates = st.integers(0, 200).map(float)
    steps = st.integers(0, 30)
    changes = {
        "allowed_substitutions": draw(st.lists(swaps, max_size=5)),
        "cost_model": draw(
            st.just(CostModel())
            | st.builds(CostModel, per_sample=rates, per_day=rates, per_control=rates)
        ),
        "staff_model": draw(
            st.just(StaffModel())
            | st.builds(StaffModel, base=st.integers(0, 3), sample_threshold=steps)
        ),
        "samples_per_day": draw(st.none() | st.builds(make_throughput, value=st.integers(1, 40))),
        "min_days": draw(st.integers(1, 10)),
    }
    return change_pack(pack, **changes)


@st.composite
def itemised_protocols(draw: st.DrawFn) -> Protocol:
    """Return a plan near the means of the labs, with items that they know something about."""
    plan = draw(lab_sized_protocols())
    changes = {
        "required_equipment": draw(lists_of(items)),
        "required_reagents": draw(lists_of(items)),
        "rationale": draw(st.just("an open flame keeps it sterile") | words),
    }
    return Protocol.model_validate({**plan.model_dump(), **changes})


def openings() -> st.SearchStrategy[Protocol | None]:
    """Return a plan that a negotiation may begin with, or none."""
    return itemised_protocols().map(lambda plan: plan if plan.sample_size else None)


# --- Whole study files ---

identifiers = st.from_regex(r"[a-z][a-z0-9_]{0,15}", fullmatch=True)
sizes = st.floats(min_value=1e-6, max_value=50)
shares = st.floats(min_value=0.001, max_value=0.999)
finite_numbers = st.floats(allow_nan=False, allow_infinity=False)
unique_labels = st.lists(words, unique_by=label_key, min_size=1, max_size=3)


@st.composite
def designs(draw: st.DrawFn) -> Design:
    """Return any design, whose numbers fit its kind."""
    row = KINDS[draw(st.sampled_from(DesignKind))]
    worse, better = sorted(draw(st.tuples(shares, shares)), reverse=row.scale.lower_is_better)
    planned, published, smallest = draw(_effects(row))
    numbers = {
        "alpha": shares,
        "population_max": st.integers(1, MOST),
        "groups": st.integers(2, MOST),
        "margin": sizes.map(lambda more: (planned or 0) + more),
        "event_share": st.floats(0.001, 1),
    }
    optional = {
        **dict.fromkeys(numbers, st.none()),
        "population_max": st.none() | numbers["population_max"],
    }
    given = {name: draw(numbers[name] if name in row.needs else optional[name]) for name in numbers}
    return Design.model_validate(
        {
            "kind": row.kind,
            "effect_published": published,
            "effect_planning": planned,
            "sesoi": smallest,
            "target": better,
            "floor": worse,
            "unit_of_n": draw(words),
            "source": draw(words),
            "why": draw(
                st.dictionaries(st.sampled_from([*Design.model_fields]), words, max_size=3)
            ),
            **given,
        }
    )


def _effects(row: Kind) -> st.SearchStrategy[tuple[float | None, float | None, float | None]]:
    """Return a planning effect and two others, none where the kind has none."""
    if row.effect is None:
        return st.just((None, None, None))
    effects = shares if row.effect.below == 1 else sizes.filter(lambda effect: effect != 1)
    return st.tuples(effects, st.none() | effects, st.none() | effects)


@st.composite
def papers(draw: st.DrawFn) -> Paper:
    """Return any paper, with one fact or two."""
    facts = st.builds(
        Fact,
        text=words,
        source=words,
        confidence=st.sampled_from(Confidence),
        where=st.none() | words,
    )
    return Paper(
        **{name: draw(words) for name, field in Paper.model_fields.items() if field.is_required()
           and name not in ("doi", "facts")},
        doi=draw(st.none() | st.just("10.1000/xyz-123_(4)")),
        contested=draw(st.none() | words),
        facts=draw(st.lists(facts, min_size=1, max_size=2)),
    )  # fmt: skip


@st.composite
def study_labs(draw: st.DrawFn, equipment: list[str], reagents: list[str]) -> Lab:
    """Return any lab of a study with these items."""
    rates = st.floats(0, 1e9)
    return Lab(
        budget=draw(st.floats(min_value=0.01, max_value=1e9)),
        days=draw(st.integers(1, 20) | st.integers(1, MOST)),
        staff=draw(st.integers(1, 10) | st.integers(1, MOST)),
        booked=draw(st.dictionaries(st.sampled_from(equipment), counts, max_size=2)),
        out_of_stock=draw(st.lists(st.sampled_from(reagents), unique=True, max_size=2)),
        cost_model=draw(st.just(CostModel()) | st.builds(CostModel, per_sample=rates)),
        staff_model=draw(st.just(StaffModel()) | st.builds(StaffModel, base=counts)),
        expected=draw(st.none() | expected_outcomes()),
    )


def expected_outcomes() -> st.SearchStrategy[ExpectedOutcome]:
    """Return anything that an author may expect of a lab, true or not."""
    dimensions = st.lists(st.sampled_from(Dimension), unique=True, max_size=3)
    return st.builds(
        ExpectedOutcome,
        fails=dimensions,
        answer=st.sampled_from(LabManagerActionType),
        still_fails=dimensions,
        sample_size=counts,
        duration_days=counts,
        credits=st.floats(0, 1e9),
        evidence=st.none() | sizes,
        verdict=st.sampled_from(EvidenceTier),
        largest_sample=st.none() | counts,
    )


def _substitutions(items: list[str]) -> st.SearchStrategy[AllowedSubstitution]:
    return st.builds(
        AllowedSubstitution,
        original=st.sampled_from(items),
        alternative=words | st.sampled_from(items),
        condition=words,
        tradeoff=words,
        fidelity_loss=st.integers(0, 3),
        evidence_factor=st.floats(0.01, 1),
    )


@st.composite
def constraints(draw: st.DrawFn, kind: DesignKind) -> ScenarioConstraint:
    """Return any constraint of a study of that kind: only stated, or bounding a number."""
    bounds = draw(st.none() | st.sampled_from(Bounds))
    quantity: st.SearchStrategy[float | None] = st.integers(0, 300).map(float)
    comparator = st.sampled_from(Comparator)
    if bounds is None:
        quantity = st.none() | finite_numbers
    elif bounds is Bounds.EVIDENCE:
        precise = kind is DesignKind.PRECISION
        quantity, comparator = (
            shares,
            st.just(Comparator.AT_MOST if precise else Comparator.AT_LEAST),
        )
    return ScenarioConstraint(
        key=draw(identifiers.filter(lambda key: key not in LAB_CONSTRAINTS)),
        label=draw(words),
        quantity=draw(quantity),
        unit=draw(st.none() | words),
        comparator=draw(comparator),
        hard=draw(st.booleans()),
        details=draw(texts),
        bounds=bounds,
        conditions=draw(st.integers(2, 1000)) if bounds is Bounds.SAMPLES_PER_CONDITION else None,
    )


_RULES: Final = st.builds(
    PolicyRule,
    key=identifiers,
    restriction=words,
    forbidden_phrases=st.lists(words, min_size=1, max_size=2),
    allowed_mentions=st.lists(words, max_size=2),
)
_HIDDEN: Final = st.builds(
    HiddenReferenceSpec,
    summary=words,
    required_elements=st.lists(words, max_size=2),
    flexible_elements=st.lists(words, max_size=2),
    target_metric=words,
    target_value=words,
)


def _controls(names: list[str]) -> st.SearchStrategy[list[Control]]:
    kept, protections = st.booleans(), words
    return st.tuples(
        *(
            st.builds(Control, name=st.just(name), droppable=kept, protects_against=protections)
            for name in names
        )
    ).map(list)


def _keyed(items: st.SearchStrategy[T], most: int) -> st.SearchStrategy[list[T]]:
    """Return short lists of things that have a key, each key once."""
    return st.lists(items, unique_by=lambda item: getattr(item, "key"), max_size=most)  # noqa: B009


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """Return any study that a file may hold, sensible or not."""
    items = draw(st.lists(words, unique_by=label_key, min_size=2, max_size=6))
    cut = draw(st.integers(1, len(items) - 1))
    equipment, reagents, controls = items[:cut], items[cut:], draw(unique_labels)
    plan, design = draw(protocols()), draw(designs())
    lab = study_labs(equipment, reagents)
    return Study(
        format=1,
        scenario_id=draw(identifiers),
        domain_id=draw(identifiers),
        paper=draw(papers()),
        design=design,
        success_criteria=draw(st.lists(words, min_size=1, max_size=2)),
        hidden_reference=draw(_HIDDEN),
        constraints=draw(_keyed(constraints(design.kind), 2)),
        equipment=equipment,
        reagents=reagents,
        substitutions=draw(st.lists(_substitutions(items), max_size=3)),
        controls=draw(_controls(controls)),
        policy_rules=draw(_keyed(_RULES, 2)),
        min_days=draw(st.integers(1, 20) | st.integers(1, MOST)),
        samples_per_day=draw(st.none() | st.builds(make_throughput, value=st.integers(1, 10**6))),
        reference_protocol=revise(
            plan,
            controls=draw(lists_of(st.sampled_from(controls))),
            required_equipment=draw(lists_of(st.sampled_from(equipment))),
            required_reagents=draw(lists_of(st.sampled_from(reagents))),
        ),
        labs=Labs(easy=draw(lab), medium=draw(lab), hard=draw(lab)),
    )
