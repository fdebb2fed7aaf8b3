"""Make a study: the ways to begin, then its form and its file, next to its evidence."""

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import streamlit as st

from replicalab import designs, documents, drafts, lexicon, lint, planner, scenarios
from replicalab.assessment import assess, failing_text
from replicalab.drafts import YOUR_LAB, Draft, OtherLabs, draft_fields
from replicalab.drafts.draft import FormSession
from replicalab.facts import curve_facts, lab_facts, region_facts, study_facts
from replicalab.facts.blocks import NOT_GIVEN, Status, sentences_panel
from replicalab.facts.verdicts import evidence_sentence, largest_text, plan_verdict
from replicalab.render.figures import CONFIG
from replicalab.render.html import numbers_style
from replicalab.scenarios import AMOUNTS, AmountGroup, Difficulty, amounts_in, pack_of
from replicalab.scenarios.schema import study_schema
from replicalab.ui import controls, notices, own_studies, screen, state, tradeoffs_page
from replicalab.ui.file_transfer import download, upload
from replicalab.ui.own_studies import OwnStudy
from replicalab.ui.study_form import analysis_form, study_fields
from replicalab.ui.tradeoffs_page.outlook import Outlook, ViewChoice

PAGE_TABS: Final = "scenarios_part"  # the key of the tabs of the Scenarios page
MAKE: Final = "Make a study"
PARTS_KEY: Final = "making_part"
ADVANCED: Final = "Advanced"
_CHECK: Final = "Check"
_TEXT: Final = "own_text"
# More than a file may have, so that its reader says by how much, but far below the largest message.
_MOST_TYPED: Final = 300_000
_SOURCE: Final = "own_source"
_UPLOAD: Final = "own_upload"
_EMPTY: Final = "an empty form"
_TEMPLATE: Final = "the template"
_LAB: Final = f"labs.{YOUR_LAB}"


def draw() -> None:
    """Draw the ways to begin, or the form of the study that was begun."""
    now = study_fields.session()
    if not now.begun or now.choosing:
        _draw_beginning()
        return
    form, side = st.columns([5, 2], gap="large")
    with form:
        _draw_form(now)
    with side, st.container(key="making_side"):
        _draw_side(now)


def show(part: str) -> None:
    now = study_fields.session()
    now.part, now.choosing = part, False
    st.session_state[PARTS_KEY] = part


def edit(own: OwnStudy) -> None:
    """Show a visitor's study in the form, on the Scenarios page."""
    st.session_state[PAGE_TABS] = MAKE
    state.update(survey=False)
    study_fields.session().write(own.text)
    show(FIRST)


def _draw_beginning() -> None:
    now = study_fields.session()
    with st.container(border=True, key="analysis"):
        st.markdown("**From a power analysis**")
        analysis_form.draw()
    form, file = st.columns(2, gap="large")
    with form:
        names = {shelf.scenario_id: shelf.paper.name for shelf in scenarios.list_scenarios()}
        sources = [_EMPTY, _TEMPLATE, *names]
        st.selectbox(
            "Start from", sources, format_func=lambda name: names.get(name, name), key=_SOURCE
        )
        with st.container(horizontal=True):
            controls.button("Start the form", "edit_note", _start)
            if now.begun:
                back = partial(setattr, now, "choosing", False)
                controls.button("Back to the form", "arrow_back", back, type="tertiary")
    with file:
        upload(
            "Or upload a file",
            _UPLOAD,
            lambda data, name: now.write(scenarios.readable_text(data, name)),
            documents.STUDY_SUFFIXES,
            most_mb=documents.STUDY_MB,
            stays=True,
            refused="{error}. Your study is kept.",
        )


def _start() -> None:
    chosen = st.session_state.get(_SOURCE, _EMPTY)  # a browser may send the click alone
    now = study_fields.session()
    notices.clear(_UPLOAD)
    if chosen == _EMPTY:
        now.begin(Draft(drafts.new_study(study_fields.new_id(), name=study_fields.free_name())))
    elif chosen == _TEMPLATE:
        now.write(scenarios.template_text())
    else:
        text = scenarios.copy_text(chosen, f"my_{chosen}"[:64])
        study = scenarios.parse_study(text, drafts.NAME)
        taken, longest = own_studies.names(), drafts.longest_name(study)
        name = drafts.free_name(study.paper.name, taken, longest)
        now.write(drafts.rename(text, study, name))


def _draw_form(now: FormSession) -> None:
    names = list(PARTS)
    st.session_state.setdefault(PARTS_KEY, now.part or FIRST)
    with controls.open_tab(names, PARTS_KEY) as name:
        now.part = name
        if now.refused and name != ADVANCED:
            text = "The file under Advanced is not a valid study yet. Correct it, or press Undo."
            st.warning(text, icon=":material/code_off:")
            controls.button("Show the file", "code", partial(show, ADVANCED), type="tertiary")
            return
        PARTS[name][0]()
        if name not in (_CHECK, ADVANCED):
            after = names[names.index(name) + 1]
            controls.button(f"Next: {after}", "arrow_forward", partial(show, after))


def _draw_side(now: FormSession) -> None:
    study, mine = now.study, own_studies.studies()
    refused = own_studies.refusal(now.file, study) if study else ""
    stored = mine[study.scenario_id].text if study and study.scenario_id in mine else None
    if study is None:
        listed, unlisted = len(now.faults), now.result.more
        places = dict.fromkeys([ADVANCED] if now.refused else map(_part_of, now.result.faults))
        count, under = lexicon.count_text(listed + unlisted, "fault"), lexicon.joined(list(places))
        first = f" The first {listed} are listed." if unlisted else ""
        st.error(f"{count} to correct, under {under}.{first}", icon=":material/cancel:")
    else:
        plan = assess(study.reference_protocol, pack_of(study, Difficulty.MEDIUM))
        fails = f"{lexicon.capitalised(plan.fails_text)}." if plan.failing else ""
        sentences = [fails or "Every dimension passes.", evidence_sentence(plan.evidence)]
        sentences.append(largest_text(plan))
        screen.draw(sentences_panel(sentences, title=study.paper.name, verdict=plan_verdict(plan)))
        if stored not in (None, now.file):
            st.caption(f"It replaces your present '{controls.escape(study.scenario_id)}'.")
    if refused:
        st.warning(refused, icon=":material/inventory_2:")
    look: dict[str, Any] = {"icon": ":material/play_arrow:", "type": "primary", "width": "stretch"}
    disabled = study is None or bool(refused)
    if st.button("Use this study", disabled=disabled, **look) and study is not None:
        study_fields.open_on_protocol(now.file, study)
    with st.container(horizontal=True, gap="xsmall", key="own_actions"):
        controls.button("Undo", "undo", now.undo, disabled=not now.past, key="making_undo")
        download("Download the file", lambda: now.file, f"{now.draft.at('scenario_id')}.yaml")
        controls.button("Start over", "restart_alt", partial(setattr, now, "choosing", True))
    if study is None or stored != now.file:
        st.caption("Only this tab holds it until you press Use this study: a reload loses it.")
        return
    where = "In this server's memory only: download the file to keep it."
    if own_studies.is_saved(study.scenario_id, now.file):
        where = "Saved in your library."
    st.caption(f"{where} Anyone with its address can read it; only this browser can change it.")


def _draw_comparison() -> None:
    study_fields.draw_rows([3, 1], ("paper.title", "paper.short_title"))
    study_fields.draw("paper.goal")
    study_fields.draw_faults_at("design", "kind")

    def choose(kind: str) -> None:
        study_fields.session().change(study_fields.draft().of_kind(kind), redraw=True)

    with st.grid("auto", min_column_width=170, key="kinds"):
        for kind in study_fields.kinds_shown():
            is_chosen = designs.KINDS[kind] is study_fields.draft().row
            with st.container(key=f"kind_{kind}", gap=None):
                st.button(
                    designs.KINDS[kind].title,
                    key=f"choose_{kind}",
                    icon=":material/check:" if is_chosen else None,
                    type="primary" if is_chosen else "secondary",
                    width="stretch",
                    on_click=partial(choose, kind),
                )
                screen.draw(study_facts.kind_panel(kind))


def _draw_assumptions() -> None:
    draft = study_fields.draft()
    row = draft.row
    if row.effect is not None:
        effects = ("design.effect_planning", "design.effect_published", "design.sesoi")
        study_fields.draw_rows(3, effects)
    study_fields.draw("design.source")
    study_fields.draw_rows(3, [f"design.{name}" for name in ("target", "floor", *row.numbers)])
    study_fields.draw_rows([2, 1], ("design.unit_of_n", "design.dropout"))
    if row.effect is not None:
        _draw_original(draft)
    if row.uses("units"):
        has_units = draft.at("design", "units") is not None
        names = ["units.name", "units.samples", "units.icc", "why.units"]
        study_fields.draw_rows(4, [f"design.{name}" for name in names[: 4 if has_units else 1]])
    if row.uses("arms"):
        why = ["design.why.arms"] if draft.at("design", "arms") is not None else []
        study_fields.draw_rows(2, ["design.arms.share", *why])


def _draw_original(draft: Draft) -> None:
    key = study_fields.key(*draft_fields.ORIGINAL, "way")

    def choose() -> None:
        chosen = st.session_state[key]
        way = None if chosen == NOT_GIVEN else chosen
        study_fields.session().change(draft_fields.with_original_way(study_fields.draft(), way))

    ways = [NOT_GIVEN, *draft_fields.original_ways(draft.row)]
    way = st.selectbox(
        "The original reports",
        ways,
        index=ways.index(draft_fields.original_way(draft) or NOT_GIVEN),
        key=key,
        on_change=choose,
        help="Its numbers allow more cautious effects to plan with.",
    )
    if draft.at(*draft_fields.ORIGINAL) is None:
        return
    study_fields.draw_rows(5, draft_fields.original_paths(draft.row, way))
    names = ("source", "confidence", "sides")
    study_fields.draw_rows([3, 1, 1], [f"design.original.{name}" for name in names])
    study_fields.draw_faults_at(*draft_fields.ORIGINAL)
    if (study := study_fields.session().study) is not None:
        screen.draw(sentences_panel(curve_facts.choices_texts(study.design), quiet=True))


def _draw_needs() -> None:
    draft = study_fields.draft()
    why = ("samples_per_day.why",) if draft.at("samples_per_day") is not None else ()
    study_fields.draw_rows(3, ("min_days", "samples_per_day.value", *why))
    study_fields.draw("equipment")
    study_fields.draw("reagents")
    for part, row in draft_fields.ITEM_LISTS.items():
        st.markdown(f"**{row.title}**")
        if part == "substitutions" and not draft.used_items and not draft.items(part):
            st.caption("Name an item above first.")
        else:
            study_fields.draw_items(part)


def _draw_lab_and_plan() -> None:
    plan, lab = st.columns(2, gap="large")
    with plan:
        st.markdown("**Reference plan**")
        names = [name for name in draft_fields.FIELDS if name.startswith("reference_protocol.")]
        study_fields.draw_rows(2, names[:2])
        for name in names[2:]:
            study_fields.draw(name)
    with lab:
        st.markdown("**The lab**")
        money = [f"cost_model.{amount.key}" for amount in amounts_in(AmountGroup.MONEY)]
        amounts = [f"{_LAB}.{name}" for name, amount in AMOUNTS.items() if amount.is_shared]
        study_fields.draw_rows([3, 2, 2], amounts)
        study_fields.draw_rows(2, [f"{_LAB}.{name}" for name in ("start_date", "currency", *money)])
        study_fields.draw(f"{_LAB}.weekends")
        study_fields.draw(f"{_LAB}.booked")
        for item in study_fields.draft().labels("labs", YOUR_LAB, "booked"):
            study_fields.draw(("labs", YOUR_LAB, "booked", item))
        study_fields.draw(f"{_LAB}.out_of_stock")
        _draw_other_labs(study_fields.draft())


def _draw_other_labs(draft: Draft) -> None:
    key = study_fields.key("others")
    has_kept = draft.others is OtherLabs.KEPT or "labs" in draft.aside
    others = [choice for choice in OtherLabs if choice is not OtherLabs.KEPT or has_kept]

    def choose() -> None:
        study_fields.session().change(study_fields.draft().with_others(st.session_state[key]))

    st.radio(
        "Easy and hard lab",
        others,
        index=others.index(draft.others),
        key=key,
        on_change=controls.choice_callback(key, others, choose),
        help="Made from it: the easy lab has every item and the means for the plan. The hard lab "
        "has three quarters of budget and days, and one person fewer.",
    )


def _draw_check() -> None:
    now = study_fields.session()
    study_fields.draw_rows(2, ("scenario_id", "domain_id"))
    for path, faults in now.result.faults.items():
        part = _part_of(path)
        controls.complain(*(f"{part}: {draft_fields.fault_text(fault)}" for fault in faults))
    if now.study is None:
        return
    signs = {lint.LintLevel.WARNING: Status.CAUTION, lint.LintLevel.NOTE: Status.PASS}
    findings = lint.lint(now.study)
    levels = Counter(finding.level for finding in findings)
    counts = [lexicon.count_text(levels[level], level) for level in signs if levels[level]]
    with st.expander(", ".join(counts) or "No remarks"):
        for finding in findings:
            mark, place = controls.badge(signs[finding.level], finding.level), finding.place
            labs = (f"{lab.capitalize()} lab" for lab in Difficulty if f"labs.{lab}" in place)
            where = next(labs, "") or _part_of(place)
            st.markdown(f"{mark} {where}: {controls.escape(finding.message)}")
    if st.toggle("Show plans that fit", value=True, key="making_region"):
        pack = pack_of(now.study, Difficulty.MEDIUM)
        options = planner.PlanAnalysis(assess(now.study.reference_protocol, pack))
        view = Outlook(pack, options, ViewChoice(now.study.scenario_id, now.version))
        title = region_facts.region_title(view.region)
        shades = region_facts.shade_text(options.yours.evidence)
        means = f"with {lab_facts.amounts_text(pack.lab)}<br>{shades}"
        chart = tradeoffs_page.region_chart(view, (title, means)).figure
        st.plotly_chart(chart, key="making_chart", config=CONFIG, alt=title)


def _draw_file() -> None:
    now = study_fields.session()
    st.session_state[_TEXT] = now.file
    screen.draw_styles(numbers_style(_TEXT, now.file))
    st.text_area(
        "Study file (YAML)",
        key=_TEXT,
        height=460,
        max_chars=_MOST_TYPED,
        on_change=lambda: now.write(str(st.session_state[_TEXT])),
        help="Checked when you click outside, or press Ctrl and Enter.",
    )
    st.caption(
        f"At most {_MOST_TYPED:,} characters; a longer paste changes nothing. A change in the form "
        "removes notes (#) from the file."
    )
    if now.faults:
        lines = [
            (str(fault.line or "–"), fault.path or "the file", fault.problem, fault.remedy)
            for fault in now.faults
        ]
        names = ("Line", "Field", "Problem", "Remedy")
        controls.draw_table(names, lines, alt="Faults of the study file")
    download(
        "Download the JSON Schema",
        lambda: json.dumps(study_schema(), indent=2),
        "study.schema.json",
        mime="application/schema+json",
        icon=":material/schema:",
        type="tertiary",
    )


_NAMES: Final = ("paper.title", "paper.short_title", "paper.goal", "design.kind")
_NEEDS: Final = ("min_days", "samples_per_day", "equipment", "reagents", *draft_fields.ITEM_LISTS)
PARTS: Final[dict[str, tuple[Callable[[], None], tuple[str, ...]]]] = {
    "Comparison": (_draw_comparison, _NAMES),
    "Assumptions": (_draw_assumptions, ("design",)),
    "Needs": (_draw_needs, _NEEDS),
    "Lab and plan": (_draw_lab_and_plan, ("reference_protocol", _LAB)),
    _CHECK: (_draw_check, ("scenario_id", "domain_id")),
    ADVANCED: (_draw_file, ()),
}
"""The parts of the form: how each is drawn, and how the paths of its fields begin."""
FIRST: Final = next(iter(PARTS))


def _part_of(path: str) -> str:
    return next((name for name, (_, paths) in PARTS.items() if path.startswith(paths)), ADVANCED)
