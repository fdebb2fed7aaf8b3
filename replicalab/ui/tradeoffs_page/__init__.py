"""The Trade-offs page: the region of days and samples, the frontier, and the lab's sliders."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import streamlit as st

from replicalab import lexicon, models, planner, scenarios
from replicalab.assessment import assess
from replicalab.facts import blocks, check_facts, frontier_facts, plan_facts, region_facts, verdicts
from replicalab.facts.blocks import Status, facts_table
from replicalab.facts.change_facts import no_evidence_text
from replicalab.facts.lab_facts import amounts_text, own_text
from replicalab.facts.negotiation_facts import step_changes
from replicalab.limits import LARGEST_PLANNED
from replicalab.render import figures
from replicalab.ui import lab_form, screen, state
from replicalab.ui.controls import button, choice_callback, page_link
from replicalab.ui.tradeoffs_page.outlook import LoadedPlan, Outlook, choose, view_choice

_CHART: Final = "region_chart"
_CHARTS: Final = {"region": "Days and samples", "frontier": "Evidence for {currency}"}
_BUDGET_STEP: Final = 10
_STAFF_STEPS: Final = 4
_REACH: Final = 1.25  # of a slider, as a multiple of the plans' needs


def draw(analysis: planner.PlanAnalysis) -> None:
    """Draw the page: one chart at a time, and the controls next to it."""
    view = Outlook(state.author_pack(), analysis, view_choice())
    if text := no_evidence_text(view.options):
        verdict = blocks.Verdict(blocks.Status.FAIL, "No evidence", text)
        screen.draw(blocks.sentences_panel([text], verdict=verdict))
    picture, controls = st.columns([5, 3], gap="large")
    with picture:
        chart = st.radio(
            "Show",
            [*_CHARTS],
            format_func=lambda name: _CHARTS[name].format(currency=view.pack.lab.currency),
            horizontal=True,
            key="picture",
            persist_state="session",
        )
        # The other chart is not even computed.
        (_draw_frontier if chart == "frontier" else _draw_region)(view)
    with controls:
        _draw_sliders(view)
        _draw_point(view)
        _draw_extras(view)


def _draw_region(view: Outlook) -> None:
    with st.container(key="region", gap=None):
        _draw_region_chart(view)
    with st.container(horizontal=True, key="layers"):
        _draw_layer("Samples that cannot count", "lost", on=view.choice.lost, view=view)
        if view.least_to_draw is not None:
            on = view.choice.as_least
            _draw_layer("The least-loss plan’s items", "as_least", on=on, view=view)
    if view.effects:
        key, places = f"effect_choice_{view.choice.study}", range(len(view.effects))
        st.radio(
            "Effect assumed",
            places,
            index=view.effect_place,
            format_func=lambda place: plan_facts.effect_label(view.effects[place]),
            horizontal=True,
            key=key,
            help="For this page only. Change the plan’s own effect on Protocol.",
            on_change=choice_callback(key, places, lambda: choose(effect=st.session_state[key])),
        )
    other = None if view.choice.as_least else view.least_to_draw
    outside = view.region.outside(region_facts.points_of(view.plans, view.drawn))
    facts = [*region_facts.region_facts(view.drawn, view.yours, view.effect, outside, other)]
    reading = region_facts.reading_fold(view.yours.evidence, lost=view.choice.lost)
    screen.draw(*([facts_table("The region", facts)] if facts else []), reading)
    screen.draw_tables(lambda: _region_tables(view))


def _draw_region_chart(view: Outlook) -> None:
    title = region_facts.region_title(view.region)
    # The sliders say for which lab.
    chart = region_chart(view, (title, ""), labelled=False)
    alt = (
        f"{title} with {amounts_text(view.pack.lab)}. Days against samples, with the planned "
        "evidence and each limit; the table below has the same numbers."
    )
    screen.draw_chart(chart.figure, _CHART, alt, on_select=_take_click, selection_mode="points")
    marked = [(plan.counts.days, plan.counts.samples) for plan in view.plans.values()]
    spot = None if view.place in marked else figures.spot_of(view.region, *view.place)
    screen.draw(figures.over_panel(chart, spot))


def region_chart(view: Outlook, title: tuple[str, str], *, labelled: bool = True) -> Any:
    """Return the region with the chosen layers; the labels are apart if it is not ``labelled``."""
    marks = figures.region_marks(view.plans, view.drawn, view.effect)
    limits, lost = region_facts.limit_labels(view.pack), view.choice.lost
    return figures.region_figure(view.region, marks, limits, title, lost=lost, labelled=labelled)


def _take_click() -> None:
    points, now = st.session_state[_CHART]["selection"]["points"], view_choice()
    place = (int(points[-1]["x"]), int(points[-1]["y"])) if points else now.clicked
    if place is not None:
        choose(point=place, clicked=place, clicks=now.clicks + 1)


def _draw_layer(label: str, name: str, *, on: bool, view: Outlook) -> None:
    key = f"{name}_{view.choice.study}_{view.choice.version}"
    st.toggle(label, value=on, key=key, on_change=lambda: choose(**{name: st.session_state[key]}))


def _region_tables(view: Outlook) -> list[blocks.Table]:
    rows = [
        (
            name,
            f"{plan.size_text} for {plan.pack.lab.money(plan.cost)}",
            plan.evidence_at(view.effect).text,
            verdicts.plan_verdict(plan).title,
        )
        for name, plan in view.plans.items()
    ]
    return [
        blocks.table("The plans", ("Plan", "Size", "Evidence", "Verdict"), rows, kind="plain"),
        facts_table("The limits", region_facts.limit_facts(view.pack).values()),
        region_facts.region_table("The region", view.region, view.drawn, view.effect),
    ]


def _draw_frontier(view: Outlook) -> None:
    options, verdict = view.options, frontier_facts.standing_verdict(view.options)
    plans, balanced = options.frontier, options.balanced
    if plans.plans:
        result = "no plan beats yours" if verdict.status is Status.PASS else "better plans"
        planned = ", at the planned effect" if view.effect is not None else ""
        title = f"Evidence for {view.pack.lab.currency}{planned}: {result}"
        unbeaten = region_facts.unbeaten_shown(options)
        marks = [figures.Mark(n, plan, n, plan.evidence.number) for n, plan in unbeaten.items()]
        axes = "Cost against evidence; the table below has the same numbers."
        alt = f"{title}, with {amounts_text(view.pack.lab)}. {axes}"
        chart = figures.frontier_figure(plans, marks, (title, ""))
        screen.draw_chart(chart, "frontier_chart", alt)
    table = frontier_facts.standing_table(options)
    screen.draw(blocks.sentences_panel([verdict.text], verdict=verdict), table)
    if balanced is not None:
        _draw_load_button("Load the balanced plan", "balance", balanced.plan, view)
    if plans.plans:
        undrawn = sum(len(line.plans) for line in plans.lines) < len(plans.plans)
        reading = {
            "One line for each fidelity loss: 0 to 3 for each substitution, 1 for each dropped "
            "control.": True,
            "Balanced: the Nash point. It maximises the evidence beyond the floor, divided by 1 + "
            "fidelity loss, times the money left.": plans.balanced is not None,
            "Not drawn: plans on the frontier only because they take fewer days.": undrawn,
        }
        listed = blocks.listing(text for text, is_shown in reading.items() if is_shown)
        screen.draw(blocks.Fold("How to read this", (listed,)))
        screen.draw_tables(lambda: [frontier_facts.frontier_table(options)])


def _draw_sliders(view: Outlook) -> None:
    """Draw the sliders: each reaches twice the study's amount, and beyond two plans' needs."""
    real, means = view.real, view.real.lab
    plans = [view.yours, assess(view.pack.reference_protocol, view.pack)]
    budget, step = max(1, round(means.budget)), _BUDGET_STEP
    below = budget // 2 // step * step
    missing = math.ceil(max(plan.cost for plan in plans) * _REACH) - budget
    above = max(step, budget // step * step, -(-missing // step) * step)
    _draw_slider(view, "budget", budget, (budget - below, budget + above), step)
    longest = max(plan.plan.duration_days for plan in plans) + view.pack.lab.start_day - 1
    high = max(2 * means.days, real.min_days, math.ceil(longest * _REACH))
    _draw_slider(view, "days", means.days, (1, high))
    needed = max(real.staff_model.base + _STAFF_STEPS, *(plan.staff + 1 for plan in plans))
    ends = min(1, means.staff), max(means.staff + 1, needed)
    _draw_slider(view, "staff", means.staff, ends)
    text = own_text(real, view.pack)
    screen.draw(blocks.sentences_panel(["The sliders change your lab on every page.", text]))
    if text:
        lab_form.draw_way_back("reset_lab")


def _draw_slider(view: Outlook, name: str, real: int, ends: tuple[int, int], step: int = 1) -> None:
    label = scenarios.AMOUNTS[name].label_in(view.pack.lab.currency)
    typed = getattr(state.case().own_lab, name)
    value = real if typed is None else typed
    reach = ends[1] - real
    # An address, the drawer or a pull to the end may exceed the reach: there is always more.
    while real + reach <= value:
        reach *= 2
    key = f"slider_{name}"
    st.session_state[key] = value

    def pull() -> None:
        pulled = st.session_state[key]
        changed = {name: None if pulled == real else pulled}
        state.change_lab(state.case().own_lab.model_copy(update=changed))

    low, high = min(ends[0], value), min(scenarios.MOST, real + reach)
    st.slider(label, low, high, step=step, format="localized", key=key, on_change=pull)


def _draw_point(view: Outlook) -> None:
    names = ("days", "samples")
    keys = [f"point_{name}_{view.choice.key}" for name in names]

    def take() -> None:
        # A browser may send replaced fields once more: their key is no longer that of the choice.
        # It sends no number that stays as shown.
        if view.choice.key == view_choice().key:
            days, samples = map(st.session_state.get, keys, view.place)
            choose(point=(days, samples))

    with st.container(horizontal=True):
        for name, key, value in zip(names, keys, view.place, strict=True):
            shown = min(value, LARGEST_PLANNED)
            label = f"Point: {name}"
            st.number_input(label, 0, LARGEST_PLANNED, shown, step=1, key=key, on_change=take)
    effect = view.effects[view.effect_place] if view.effect_place else None
    verdict, facts = verdicts.plan_verdict(view.point), region_facts.point_facts(view.point, effect)
    screen.draw(blocks.Sentence("", verdict.title, verdict.status), facts_table("The point", facts))
    _draw_load_button("Load this point", "input", view.point.plan, view)
    loaded = view.choice.loaded
    if loaded is not None and loaded.plan == view.yours.plan:
        with st.container(horizontal=True, key="loaded"):
            button("Undo", "undo", state.undo, key="undo_loaded")
            page_link("pages/1_Protocol.py", "See it on Protocol", "tune")
        verdict = blocks.Verdict(blocks.Status.PASS, "Loaded", loaded.text)
        screen.draw(blocks.sentences_panel([loaded.text], verdict=verdict))


def _draw_load_button(label: str, icon: str, plan: models.Protocol, view: Outlook) -> None:
    def load() -> None:
        text = f"{step_changes(planner.PlanStep(view.yours, view.yours.revised(plan)))}."
        state.replace_plan(plan)
        choose(point=(plan.duration_days, plan.sample_size), loaded=LoadedPlan(text, plan))

    button(label, icon, load, key=f"load_{icon}", disabled=plan == view.yours.plan)


def _draw_extras(view: Outlook) -> None:
    planned = ", at the planned effect" if view.effect is not None else ""
    text = "your plan" if view.options.least.plan == view.yours.plan else "the least-loss plan"
    title = f"Cheapest improvement of {text}{planned}"
    heading = blocks.Heading(title, 2, part=True)
    extras = blocks.group(heading, facts_table(title, frontier_facts.extra_facts(view.options)))
    effects: blocks.Block = blocks.sentences_panel([plan_facts.assumption_text(view.yours)])
    if view.effects:
        plans = {name: plan for name, plan in view.plans.items() if name != region_facts.OFFER}
        effects = check_facts.effects_panel(view.effects, plans)
    screen.draw(extras, effects)
