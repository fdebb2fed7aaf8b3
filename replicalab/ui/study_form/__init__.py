"""Make a study: the ways to begin, then its form and its file, next to what it is worth."""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab import scenarios
from replicalab.assessment import assess, failing_text
from replicalab.documents import STUDY_MB, STUDY_SUFFIXES
from replicalab.drafts import YOUR_LAB, Draft, new_study
from replicalab.drafts.fields import ITEM_LISTS, fault_text
from replicalab.drafts.session import FormSession
from replicalab.facts.blocks import Status, sentences_panel
from replicalab.facts.region import means_text, region_title, shade_text
from replicalab.facts.verdicts import evidence_sentence, largest_text, plan_verdict
from replicalab.lexicon import capitalised, count_text, joined
from replicalab.lint import LintLevel, lint
from replicalab.planner import PlanAnalysis
from replicalab.render.figures import CONFIG
from replicalab.render.html import numbers_style
from replicalab.scenarios import Difficulty, Study, pack_of
from replicalab.scenarios.schema import study_schema
from replicalab.ui import notices, own_studies, panel, state
from replicalab.ui.controls import button, complain, open_tab
from replicalab.ui.files import download, upload
from replicalab.ui.own_studies import OwnStudy
from replicalab.ui.study_form import analysis, fields, parts, record
from replicalab.ui.tradeoffs.charts import region_chart
from replicalab.ui.tradeoffs.outlook import Outlook, ViewChoice
from replicalab.ui.words import badge, draw_table, escaped

DOOR: Final = "door"  # The key of the front door's tabs
MAKE: Final = "Make a study"
PARTS_KEY: Final = "making_part"
ADVANCED: Final = "Advanced"
_CHECK: Final = "Check"
_TEXT: Final = "own_text"
_TYPED_LENGTH: Final = 300_000  # more than a file may have, so that the check says how much
_SOURCE: Final = "own_source"
_UPLOAD: Final = "own_upload"
_EMPTY: Final = "an empty form"
_TEMPLATE: Final = "the template"
_SIGNS: Final = {LintLevel.WARNING: Status.CAUTION, LintLevel.NOTE: Status.PASS}
_LAB: Final = re.compile(rf"labs[.]({'|'.join(Difficulty)})[.]?")
# More than a file may have, so that its reader says by how much, and a seventh of the largest
# message, which would end the page's connection.


def draw() -> None:
    """Draw the ways to begin, or the form of what was begun."""
    now = record.current()
    if not now.begun or now.choosing:
        _draw_beginning()
        return
    form, side = st.columns([5, 2], gap="large")
    with form:
        _draw_parts(now)
    with side, st.container(key="making_side"):
        _draw_side(now)


def show(part: str) -> None:
    """Open a part of the form."""
    now = record.current()
    now.part, now.choosing = part, False
    st.session_state[PARTS_KEY] = part


def edit(own: OwnStudy) -> None:
    """Show a visitor's study in the form, on the front door."""
    st.session_state[DOOR] = MAKE
    state.show(survey=False)
    record.current().write(own.text)
    show(FIRST)


# --- the ways to begin --------------------------------------------------------------------------


def _draw_beginning() -> None:
    with st.container(border=True, key="analysis"):
        st.markdown("**I have a power analysis**")
        analysis.draw()
    form, file = st.columns(2, gap="large")
    with form:
        names = {each.scenario_id: each.paper.name for each in scenarios.list_scenarios()}
        st.selectbox(
            "Start from",
            [_EMPTY, _TEMPLATE, *names],
            format_func=lambda each: names.get(each, each),
            key=_SOURCE,
        )
        with st.container(horizontal=True):
            button("Start the form", "edit_note", _start)
            if (now := record.current()).begun:
                back = partial(setattr, now, "choosing", False)
                button("Back to the form", "arrow_back", back, type="tertiary")
    with file:
        upload(
            "Or upload a file",
            _UPLOAD,
            lambda data, name: record.current().write(scenarios.readable_text(data, name)),
            STUDY_SUFFIXES,
            most_mb=STUDY_MB,
            stays=True,
            refused="{error}. What you had is kept.",
        )


def _start() -> None:
    chosen = st.session_state.get(_SOURCE, _EMPTY)  # a browser may send the click alone
    notices.clear(_UPLOAD)
    if chosen == _EMPTY:
        record.current().begin(Draft(new_study(record.new_id(), name=record.free_name())))
    elif chosen == _TEMPLATE:
        record.current().write(scenarios.template_text())
    else:
        text = scenarios.copy_text(chosen, f"my_{chosen}"[:64])
        record.current().write(record.with_free_name(text))


# --- the form and what stands next to it --------------------------------------------------------


def _draw_parts(now: FormSession) -> None:
    names = list(PARTS)
    st.session_state.setdefault(PARTS_KEY, now.part or FIRST)
    with open_tab(names, PARTS_KEY) as name:
        now.part = name
        if now.refused and name != ADVANCED:
            st.warning(
                "The file under Advanced cannot be read as a study yet. Mend it there, or press "
                "Undo to go back to what stood here.",
                icon=":material/code_off:",
            )
            button("Show the file", "code", partial(show, ADVANCED), type="tertiary")
            return
        PARTS[name].draw()
        if name not in (_CHECK, ADVANCED):
            after = names[names.index(name) + 1]
            button(f"Next: {after}", "arrow_forward", partial(show, after))


def _draw_side(now: FormSession) -> None:
    study, mine = now.study, own_studies.kept()
    refused = own_studies.refusal(now.file, study) if study else ""
    text = mine[study.scenario_id].text if study and study.scenario_id in mine else None
    if study is None:
        _draw_number_of_faults(now)
    else:
        _draw_worth(study)
        if text not in (None, now.file):
            st.caption(f"It takes the place of your '{escaped(study.scenario_id)}' as it is now.")
    if refused:
        st.warning(refused, icon=":material/inventory_2:")
    pressed = st.button(
        "Use this study",
        icon=":material/play_arrow:",
        type="primary",
        width="stretch",
        disabled=study is None or bool(refused),
    )
    if pressed and study is not None:
        record.open_on_protocol(now.file, study)
    with st.container(horizontal=True, gap="xsmall", key="own_actions"):
        button("Undo", "undo", now.undo, disabled=not now.past, key="making_undo")
        download("Download the file", lambda: now.file, f"{now.draft.at('scenario_id')}.yaml")
        button("Start anew", "restart_alt", partial(setattr, now, "choosing", True))
    if study is None or text != now.file:
        st.caption(
            "In this tab alone until you press Use this study: loading the page anew loses it. "
            "Download the file to keep it."
        )
        return
    where = "In this server's memory only: download the file to keep it."
    if own_studies.is_saved(study.scenario_id, now.file):
        where = "Saved in your library."
    st.caption(f"{where} Whoever has its address can read it; only this browser can change it.")


def _draw_number_of_faults(now: FormSession) -> None:
    faults, extra = now.faults, now.more_faults
    places = [ADVANCED] if now.refused else list(dict.fromkeys(map(_part_of, now.result.faults)))
    number = len(faults) + extra
    count = count_text(number, "fault") if number > 1 else "One fault"
    first = f" The first {len(faults)} are listed." if extra else ""
    st.error(
        f"{count}, under {joined(places)}. The study can be used when none is left.{first}",
        icon=":material/cancel:",
    )


def _draw_worth(study: Study) -> None:
    plan = assess(study.reference_protocol, pack_of(study, Difficulty.MEDIUM))
    fails = f"{capitalised(failing_text(plan))}." if plan.failing else ""
    sentences = [fails or "All seven dimensions pass.", evidence_sentence(plan.evidence)]
    sentences.append(largest_text(plan))
    panel.draw(sentences_panel(sentences, title=study.paper.name, verdict=plan_verdict(plan)))


# --- the check ----------------------------------------------------------------------------------


def _draw_check() -> None:
    now = record.current()
    fields.draw_columns([1, 1], "scenario_id", "domain_id")
    for path, faults in now.result.faults.items():
        complain(*(f"{_part_of(path)}: {fault_text(fault)}" for fault in faults))
    if now.study is not None:
        _draw_lint(now.study)
        if st.toggle("Show the days and samples that fit", value=True, key="making_region"):
            _draw_region(now.study, now.version)


def _draw_lint(study: Study) -> None:
    findings = lint(study)
    levels = Counter(finding.level for finding in findings)
    counts = [count_text(levels[level], level.value) for level in _SIGNS if levels[level]]
    with st.expander(f"Worth a look: {joined(counts)}"):
        for finding in findings:
            mark = badge(_SIGNS[finding.level], finding.level.value)
            st.markdown(f"{mark} {escaped(_found_in(finding.place))}: {escaped(finding.message)}")


def _found_in(place: str) -> str:
    """Return the place of a finding in the form's words: ``Easy lab, expected answer``."""
    if lab := _LAB.match(place):
        rest = place[lab.end() :].replace(".", " ").replace("_", " ")
        return f"{capitalised(lab[1])} lab{f', {rest}' if rest else ''}"
    return capitalised(place) if " " in place else _part_of(place)


def _draw_region(study: Study, version: int) -> None:
    pack = pack_of(study, Difficulty.MEDIUM)
    options = PlanAnalysis(assess(study.reference_protocol, pack))
    view = Outlook(pack, options, ViewChoice(study.scenario_id, version))
    title = region_title(view.region)
    means = f"{means_text(pack)}<br>{shade_text(options.yours.evidence)}"
    chart = region_chart(view, (title, means))
    st.plotly_chart(chart, key="making_chart", config=CONFIG, alt=title)


# --- the file -----------------------------------------------------------------------------------


def _draw_file() -> None:
    now = record.current()
    st.session_state[_TEXT] = now.file
    panel.draw_styles(numbers_style(_TEXT, now.file))
    st.text_area(
        "Study file (YAML)",
        key=_TEXT,
        height=460,
        max_chars=_TYPED_LENGTH,
        on_change=lambda: record.current().write(str(st.session_state[_TEXT])),
        help="Checked when you click outside, or press Ctrl and Enter.",
    )
    st.caption(
        f"At most {_TYPED_LENGTH:,} characters; a longer paste changes nothing. The form shows "
        "what you write here; when you change it there, notes (#) leave the file."
    )
    if now.faults:
        draw_table(
            ("Line", "Field", "What is wrong", "What to do"),
            [
                (str(fault.line or "–"), fault.path or "the file", fault.problem, fault.remedy)
                for fault in now.faults
            ],
            alt="Faults of the study file",
        )
    download(
        "Download the JSON Schema",
        lambda: json.dumps(study_schema(), indent=2),
        "study.schema.json",
        mime="application/schema+json",
        icon=":material/schema:",
        type="tertiary",
    )


# --- the parts ----------------------------------------------------------------------------------


class FormPart(NamedTuple):
    """A part of the form: what draws it, and how the paths of its fields begin."""

    draw: Callable[[], None]
    paths: tuple[str, ...] = ()


_NEEDS: Final = ("min_days", "samples_per_day", "equipment", "reagents", *ITEM_LISTS)
PARTS: Final = {
    "Comparison": FormPart(
        parts.draw_comparison, ("paper.title", "paper.short_title", "paper.goal", "design.kind")
    ),
    "Assumptions": FormPart(parts.draw_assumptions, ("design",)),
    "Needs": FormPart(parts.draw_needs, _NEEDS),
    "Lab and plan": FormPart(parts.draw_lab, ("reference_protocol", f"labs.{YOUR_LAB}")),
    _CHECK: FormPart(_draw_check, ("scenario_id", "domain_id")),
    ADVANCED: FormPart(_draw_file),
}
"""The parts of the form; only the open one is drawn."""
FIRST: Final = next(iter(PARTS))


def _part_of(path: str) -> str:
    """Return the part of the form that has a field; Advanced if none has."""
    return next((name for name, part in PARTS.items() if path.startswith(part.paths)), ADVANCED)
