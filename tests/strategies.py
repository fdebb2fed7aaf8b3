"""Hypothesis strategies for the models that everyone shares, for packs and for whole studies."""

import math
from contextlib import suppress
from datetime import date
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

from replicalab import models, scenarios
from replicalab.characters import hidden
from replicalab.designs import KINDS, Kind
from replicalab.errors import ScenarioError
from replicalab.lexicon import label_key
from replicalab.limits import LONGEST_SHORT_TITLE, MOST_PERCENT
from replicalab.negotiation import Turn, TurnAuthor
from replicalab.scenarios.lab import FIRST_YEAR, LAST_YEAR
from replicalab.scenarios.overrides import ItemCategory
from tests import factories
from tests.factories import CONTROLS, EQUIPMENT, REAGENTS

T = TypeVar("T")

texts = st.text(max_size=40).map(str.strip)  # without lone surrogates
words = texts.filter(bool)
seen = (
    st.text(st.characters(exclude_categories=("C", "Zl", "Zp", "M")), min_size=1, max_size=40)
    .map(str.strip)
    .filter(lambda text: text and not hidden(text))
)
"""Text that a study file may hold."""
labels = st.one_of(st.sampled_from([*EQUIPMENT, *REAGENTS, *CONTROLS, "window shelf"]), words)
"""Labels of items and controls, often ones that the synthetic lab knows."""
counts = st.integers(min_value=0, max_value=10**6)  # far beyond any lab


def lists_of(items: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(items, max_size=4)


def protocols(
    sample_size: st.SearchStrategy[int] = counts, duration_days: st.SearchStrategy[int] = counts
) -> st.SearchStrategy[models.Protocol]:
    return st.builds(
        models.Protocol,
        sample_size=sample_size,
        controls=lists_of(labels),
        technique=words,
        duration_days=duration_days,
        required_equipment=lists_of(labels),
        required_reagents=lists_of(labels),
        rationale=words,
    )


PLAN_ACTIONS: Final = (
    models.ScientistActionType.PROPOSE_PROTOCOL,
    models.ScientistActionType.REVISE_PROTOCOL,
)


def scientist_actions() -> st.SearchStrategy[models.ScientistAction]:
    plans = protocols(sample_size=st.integers(1, 10**6))
    proposals = [st.builds(models.plan_action, st.just(kind), plans) for kind in PLAN_ACTIONS]
    types = {"action_type": models.ScientistActionType.REQUEST_INFO}
    questions = st.lists(words, min_size=1, max_size=4).map(
        lambda some: models.ACCEPT_ACTION.model_copy(update={**types, "questions": some})
    )
    return st.one_of(*proposals, questions, st.just(models.ACCEPT_ACTION))


def turns() -> st.SearchStrategy[Turn]:
    return st.builds(Turn, action=st.none() | scientist_actions(), by=st.just(TurnAuthor.PERSON))


def entries() -> st.SearchStrategy[models.ConversationEntry]:
    actions: dict[models.Role, list[str]] = {
        models.Role.SCIENTIST: [*models.ScientistActionType],
        models.Role.LAB_MANAGER: [*models.LabManagerActionType],
        models.Role.SYSTEM: [],
    }
    pairs = [(role, kind) for role, kinds in actions.items() for kind in (None, *kinds)]
    return st.builds(
        lambda pair, **rest: models.ConversationEntry(role=pair[0], action_type=pair[1], **rest),
        st.sampled_from(pairs),
        message=words,
        round_number=st.integers(0, 20),
    )


def scientist_observations() -> st.SearchStrategy[models.ScientistObservation]:
    return st.builds(
        factories.make_scientist_observation,
        paper_title=words,
        paper_method=words,
        conversation_history=lists_of(entries()),
        current_protocol=st.none() | protocols(),
        suggested_protocol=st.none() | protocols(),
        round_number=st.integers(0, 8),
        max_rounds=st.integers(0, 8),
    )


def packs(**more: st.SearchStrategy[Any]) -> st.SearchStrategy[scenarios.Pack]:
    return st.builds(
        factories.make_pack,
        budget=st.integers(1, 6000),
        days=st.integers(1, 30),
        staff=st.integers(1, 8),
        booked=st.dictionaries(st.sampled_from(EQUIPMENT), st.integers(1, 30)),
        out_of_stock=st.lists(st.sampled_from(REAGENTS), unique=True),
        **more,
    )


items = st.sampled_from([*EQUIPMENT, *REAGENTS, "window shelf", "tap water", "open flame burner"])
# The labs of `studied_packs` have, lack, may replace, do not know or forbid these.
currencies = st.sampled_from(["credits", "EUR", "kr", "€"])
start_dates = st.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))


def studied_packs() -> st.SearchStrategy[scenarios.Pack]:
    originals = st.sampled_from([*EQUIPMENT, *REAGENTS])
    swaps = st.builds(factories.make_substitution, original=originals, alternative=items)
    rates = st.integers(0, 200).map(float)
    percent = st.just(0.0) | st.sampled_from([7.5, 20.0, 1000.0])
    costs = st.builds(
        scenarios.CostModel,
        **dict.fromkeys(("per_sample", "per_day", "per_control"), rates),
        per_staff_day=st.just(0.0) | rates,
        overhead_percent=percent,
    )
    staff = st.builds(
        scenarios.StaffModel, base=st.integers(0, 3), sample_threshold=st.integers(0, 30)
    )
    return packs(
        allowed_substitutions=st.lists(swaps, max_size=5),
        cost_model=st.just(scenarios.CostModel()) | costs,
        staff_model=st.just(scenarios.StaffModel()) | staff,
        samples_per_day=st.none() | st.builds(factories.make_throughput, value=st.integers(1, 40)),
        min_days=st.integers(1, 10),
        start_day=st.just(1) | st.integers(1, 32),
        prices=st.just({}) | st.dictionaries(items, rates, max_size=5),
        own_equipment=st.just([]) | st.just(["window shelf", "stove"]),
        own_reagents=st.just([]) | st.just(["tap water"]),
        currency=currencies,
        start_date=st.none() | start_dates,
        weekends=st.booleans(),
    )


def itemised_protocols() -> st.SearchStrategy[models.Protocol]:
    return st.builds(
        models.revise,
        protocols(sample_size=st.integers(0, 200), duration_days=st.integers(0, 30)),
        required_equipment=lists_of(items),
        required_reagents=lists_of(items),
        rationale=st.just("an open flame keeps it sterile") | seen,
    )


def openings() -> st.SearchStrategy[models.Protocol | None]:
    return itemised_protocols().map(lambda plan: plan if plan.sample_size else None)


_AMOUNTS: Final = st.none() | st.integers(1, scenarios.MOST)
_RATES: Final = st.floats(0, scenarios.MOST)
_OWN_RATES: Final[dict[Any, st.SearchStrategy[float]]] = {
    **dict.fromkeys(scenarios.CostModel.model_fields, _RATES),
    "overhead_percent": st.floats(0, MOST_PERCENT),
}


def own_items(names: st.SearchStrategy[str] = labels) -> st.SearchStrategy[scenarios.OwnItem]:
    return st.builds(
        scenarios.OwnItem,
        label=names,
        category=st.sampled_from(scenarios.CATEGORIES),
        state=st.none() | st.sampled_from(scenarios.ItemState),
        until=st.none() | counts,
        price=st.none() | _RATES,
    )


def own_labs(
    names: st.SearchStrategy[str] = words, means: st.SearchStrategy[int | None] = _AMOUNTS
) -> st.SearchStrategy[scenarios.LabOverrides]:
    return st.builds(
        scenarios.LabOverrides,
        name=st.none() | names.filter(lambda text: len(text) <= LONGEST_SHORT_TITLE),
        **dict.fromkeys(("budget", "days", "staff", "start_day"), means),
        currency=st.none() | currencies,
        start_date=st.none() | start_dates,
        weekends=st.none() | st.booleans(),
        rates=st.fixed_dictionaries({}, optional=_OWN_RATES),
        steps=st.dictionaries(
            st.sampled_from([*scenarios.StaffModel.model_fields]), counts, max_size=3
        ),
        items=st.lists(own_items(), unique_by=lambda item: label_key(item.label), max_size=4).map(
            tuple
        ),
    )


prices = st.sampled_from([0.0, 0.01, 12.5, 100.0, 4000.0, 1e9]) | st.floats(0, 1e9)


@st.composite
def own_labs_of(draw: st.DrawFn, study: scenarios.Study) -> scenarios.LabOverrides:
    category: dict[str, ItemCategory] = {label_key(text): "equipment" for text in study.equipment}
    category |= {label_key(reagent): "reagent" for reagent in study.reagents}
    names = [*study.equipment, *study.reagents, *(row.alternative for row in study.substitutions)]
    labelled = draw(st.lists(st.sampled_from(names) | seen, unique_by=label_key, max_size=5))
    line = [
        scenarios.OwnItem(
            label=label,
            category=category.get(label_key(label), draw(st.sampled_from(scenarios.CATEGORIES))),
            state=(state := draw(st.none() | st.sampled_from(scenarios.ItemState))),
            until=draw(st.none() | st.integers(0, 60)) if state == "booked" else None,
            price=draw(st.none() | prices),
        )
        for label in labelled
    ]
    means = st.none() | st.integers(1, 60) | st.integers(1, scenarios.MOST)
    return draw(own_labs(seen, means)).model_copy(update={"items": tuple(line)})


def questions(design: scenarios.Design) -> st.SearchStrategy[scenarios.EvidenceAssumptions]:
    row = KINDS[design.kind]
    better, worse = sorted((design.target, design.floor), reverse=not row.scale.lower_is_better)
    planned = design.effect_planning
    strategy = st.builds(
        scenarios.EvidenceAssumptions,
        effect=st.none() if planned is None else st.none() | st.just(planned) | shares,
        alpha=st.none() | shares if row.uses("alpha") else st.none(),
        target=st.none() | st.just(better) | shares,
        floor=st.none() | st.just(worse) | shares,
        dropout=st.none() | st.sampled_from([0.0, 0.1, 0.25]) | st.floats(0, 0.99),
        units=st.none() | units() if row.uses("units") else st.none(),
        arms=st.none() | arms() if row.uses("arms") else st.none(),
        why=st.dictionaries(st.sampled_from(["effect", "dropout"]), seen, max_size=1),
    )

    def is_askable(question: scenarios.EvidenceAssumptions) -> bool:
        with suppress(ScenarioError):
            return bool(question.over(design))
        return False

    return strategy.filter(is_askable)


def units() -> st.SearchStrategy[scenarios.Units]:
    return st.builds(
        scenarios.Units,
        name=st.sampled_from(["tank", "lot", "class", "<b>unit</b>"]),
        samples=st.floats(1, 40) | st.floats(1, scenarios.MOST),
        icc=st.none() | st.floats(0, 1),
    )


def arms() -> st.SearchStrategy[scenarios.Arms]:
    share = st.just(0.5) | st.floats(0.05, 0.95)
    return st.builds(scenarios.Arms, share=share)


@st.composite
def own_packs(
    draw: st.DrawFn, study: st.SearchStrategy[scenarios.Study] | None = None
) -> scenarios.Pack:
    chosen = draw(studies() if study is None else study)
    pack = scenarios.pack_of(
        chosen, draw(st.sampled_from(scenarios.Difficulty)), draw(st.integers(0, 9))
    )
    return pack.with_own(draw(own_labs_of(chosen)), draw(questions(chosen.design)))


identifiers = st.from_regex(r"[a-z][a-z0-9_]{0,15}", fullmatch=True)
sizes = st.floats(min_value=1e-6, max_value=50)
shares = st.floats(min_value=0.001, max_value=0.999)
finite_numbers = st.floats(allow_nan=False, allow_infinity=False)
unique_labels = st.lists(seen, unique_by=label_key, min_size=1, max_size=3)


@st.composite
def designs(draw: st.DrawFn) -> scenarios.Design:
    row = KINDS[draw(st.sampled_from([*KINDS]))]
    worse, better = sorted(draw(st.tuples(shares, shares)), reverse=row.scale.lower_is_better)
    planned, published, smallest = draw(_effects(row))
    numbers = {
        "alpha": shares.map(lambda share: share * min(0.5, better if row.sought else 1.0)),
        "population_max": st.integers(1, scenarios.MOST),
        "groups": st.integers(2, scenarios.MOST),
        "margin": sizes.map(lambda more: (planned or 0) + more),
        "event_share": st.floats(0.001, 1),
        # The other share lies the planning effect below.
        "baseline": st.floats(min(1.0, math.sin(min(planned or 0, math.pi) / 2) ** 2 + 1e-9), 1),
        "assurance": st.floats(0.5, 1, exclude_max=True),
    }
    optional = {
        **dict.fromkeys(numbers, st.none()),
        "population_max": st.none() | numbers["population_max"],
    }
    optional |= {n: st.none() | numbers[n] for n in row.optional if n in numbers}
    if (planned or 0) > math.pi:
        optional["baseline"] = st.none()
    record = {
        name: draw(numbers[name] if name in row.needs else optional[name]) for name in numbers
    }
    independent = record["baseline"] is None  # its test is of equal groups alone
    fields = [*scenarios.Design.model_fields]
    original = draw(st.none() | _originals(row, published or planned))
    return scenarios.Design.model_validate(
        {
            "kind": row.kind,
            "sides": draw(st.sampled_from((1, 2))) if row.uses("sides") else 2,
            "effect_published": published,
            "effect_planning": planned,
            "sesoi": smallest,
            "target": better,
            "floor": worse,
            "dropout": draw(st.just(0.0) | shares),
            "unit_of_n": draw(seen),
            "units": draw(st.none() | units()) if row.uses("units") and independent else None,
            "arms": draw(st.none() | arms()) if row.uses("arms") and independent else None,
            "source": draw(seen),
            "why": draw(st.dictionaries(st.sampled_from(fields), seen, max_size=3)),
            "original": original,
            **record,
        }
    )


def _originals(row: Kind, effect: float | None) -> st.SearchStrategy[scenarios.Original | None]:
    if row.effect is None:
        return st.none()
    in_events = row.normal is not None and row.normal.in_events
    return st.builds(
        scenarios.Original,
        effect=st.just(effect),
        se=st.none() | st.floats(1e-6, 100),
        sides=st.sampled_from([1, 2]),
        source=seen,
        confidence=st.sampled_from(["verified", "recalled", "derived"]),
        where=st.none() | seen,
        **{"events" if in_events else "n": st.none() | st.integers(4, scenarios.MOST)},
    )


def _effects(row: Kind) -> st.SearchStrategy[tuple[float | None, float | None, float | None]]:
    if row.effect is None:
        return st.just((None, None, None))
    effects = shares if row.effect.below == 1 else sizes.filter(lambda effect: effect != 1)
    return st.tuples(effects, st.none() | effects, st.none() | effects)


def papers() -> st.SearchStrategy[scenarios.Paper]:
    rest = {"confidence": st.sampled_from(scenarios.Confidence), "where": st.none() | seen}
    facts = st.builds(scenarios.Statement, text=seen, source=seen, **rest)
    strategies = {
        "doi": st.none() | st.just("10.1000/xyz-123_(4)"),
        "short_title": st.none() | seen.filter(lambda text: len(text) <= 30),
        "contested": st.none() | seen,
        "facts": st.lists(facts, min_size=1, max_size=2),
    }
    return st.builds(
        scenarios.Paper, **{**dict.fromkeys(scenarios.Paper.model_fields, seen), **strategies}
    )


EXPECTED: Final = scenarios.load_scenario("psy_stroop", "hard").expected


def study_labs(equipment: list[str], reagents: list[str]) -> st.SearchStrategy[scenarios.Lab]:
    return st.builds(
        scenarios.Lab,
        budget=st.floats(min_value=0.01, max_value=1e9),
        days=st.integers(1, 20) | st.integers(1, scenarios.MOST),
        staff=st.integers(1, 10) | st.integers(1, scenarios.MOST),
        booked=st.dictionaries(st.sampled_from(equipment), counts, max_size=2),
        out_of_stock=st.lists(st.sampled_from(reagents), unique=True, max_size=2),
        prices=st.dictionaries(st.sampled_from([*equipment, *reagents]), prices, max_size=2),
        cost_model=st.just(scenarios.CostModel()) | st.builds(scenarios.CostModel, **_OWN_RATES),
        currency=currencies,
        start_date=st.none() | start_dates,
        weekends=st.booleans(),
        staff_model=st.just(scenarios.StaffModel()) | st.builds(scenarios.StaffModel, base=counts),
        expected=st.none() | st.just(EXPECTED),
    )


def _substitutions(items: list[str]) -> st.SearchStrategy[scenarios.AllowedSubstitution]:
    return st.builds(
        scenarios.AllowedSubstitution,
        original=st.sampled_from(items),
        alternative=seen | st.sampled_from(items),
        condition=seen,
        tradeoff=seen,
        fidelity_loss=st.integers(0, 3),
        evidence_factor=st.floats(0.01, 1),
    )


@st.composite
def constraints(draw: st.DrawFn, kind: str) -> scenarios.ScenarioConstraint:
    bounds = draw(st.none() | st.sampled_from(scenarios.Bounds))
    comparators = [*scenarios.Comparator]
    quantities: st.SearchStrategy[float | None] = st.integers(0, 300).map(float)
    if bounds is None:
        quantities = st.none() | finite_numbers
    elif bounds is scenarios.Bounds.EVIDENCE:
        precise = kind == "precision"
        comparators = [scenarios.Comparator.AT_MOST if precise else scenarios.Comparator.AT_LEAST]
        quantities = shares
    return scenarios.ScenarioConstraint(
        key=draw(identifiers.filter(lambda key: key not in scenarios.LAB_CONSTRAINTS)),
        label=draw(seen),
        quantity=draw(quantities),
        unit=draw(st.none() | seen),
        comparator=draw(st.sampled_from(comparators)),
        hard=draw(st.booleans()),
        details=draw(seen),
        bounds=bounds,
        conditions=draw(st.integers(2, 1000)) if bounds == "samples_per_condition" else None,
    )


_RULES: Final = st.builds(
    factories.make_policy_rule,
    key=identifiers,
    forbidden_phrases=st.lists(seen, min_size=1, max_size=2),
    allowed_mentions=st.lists(seen, max_size=2),
)


def _controls(names: list[str]) -> st.SearchStrategy[list[scenarios.Control]]:
    some = {"droppable": st.booleans(), "protects_against": seen}
    return st.tuples(
        *(st.builds(scenarios.Control, name=st.just(name), **some) for name in names)
    ).map(list)


def _keyed(items: st.SearchStrategy[T], most: int) -> st.SearchStrategy[list[T]]:
    return st.lists(items, unique_by=lambda item: getattr(item, "key"), max_size=most)  # noqa: B009


@st.composite
def studies(draw: st.DrawFn) -> scenarios.Study:
    items = draw(st.lists(seen, unique_by=label_key, min_size=2, max_size=6))
    cut = draw(st.integers(1, len(items) - 1))
    equipment, reagents, controls = items[:cut], items[cut:], draw(unique_labels)
    plan, design = draw(protocols()), draw(designs())
    lab = study_labs(equipment, reagents)
    return scenarios.Study(
        format=1,
        scenario_id=draw(identifiers),
        domain_id=draw(identifiers),
        paper=draw(papers()),
        design=design,
        success_criteria=draw(st.lists(seen, min_size=1, max_size=2)),
        hidden_reference=draw(st.builds(factories.make_hidden_reference, summary=seen)),
        constraints=draw(_keyed(constraints(design.kind), 2)),
        equipment=equipment,
        reagents=reagents,
        substitutions=draw(st.lists(_substitutions(items), max_size=3)),
        controls=draw(_controls(controls)),
        policy_rules=draw(_keyed(_RULES, 2)),
        min_days=draw(st.integers(1, 20) | st.integers(1, scenarios.MOST)),
        samples_per_day=draw(
            st.none() | st.builds(factories.make_throughput, value=st.integers(1, 10**6))
        ),
        reference_protocol=models.revise(
            plan,
            technique=draw(seen),
            rationale=draw(seen),
            controls=draw(lists_of(st.sampled_from(controls))),
            required_equipment=draw(lists_of(st.sampled_from(equipment))),
            required_reagents=draw(lists_of(st.sampled_from(reagents))),
        ),
        labs=scenarios.Labs(easy=draw(lab), medium=draw(lab), hard=draw(lab)),
    )
