"""The last look at a study: what is wrong anywhere, in the form or by the lines of its file."""

from __future__ import annotations

import json
from typing import Final

import streamlit as st

from replicalab.assessment import assess
from replicalab.drafts import YOUR_LAB
from replicalab.lexicon import count_text
from replicalab.lint import LintLevel, lint
from replicalab.planner import PlanAnalysis
from replicalab.render.figures import CONFIG
from replicalab.render.html import numbers_style
from replicalab.scenarios import Difficulty, Study, pack_of
from replicalab.scenarios.schema import study_schema
from replicalab.ui import panel
from replicalab.ui.controls import complain
from replicalab.ui.files import download
from replicalab.ui.study_form import fields, record
from replicalab.ui.tradeoffs.outlook import Outlook, ViewChoice
from replicalab.ui.tradeoffs.pictures import region_chart
from replicalab.ui.words import badge, draw_table, escaped
from replicalab.views.blocks import Status
from replicalab.views.region import means_text, region_title, shade_text

COMPARISON: Final = "Comparison"
ASSUMPTIONS: Final = "Assumptions"
NEEDS: Final = "Needs"
LAB: Final = "Lab and plan"
CHECK: Final = "Check"
ADVANCED: Final = "Advanced"
# In which part of the form a field stands, by the beginning of its path; others in none.
_WHERE: Final = {
    **dict.fromkeys(("paper.title", "paper.short_title", "paper.goal", "design.kind"), COMPARISON),
    "design": ASSUMPTIONS,
    **dict.fromkeys(("min_days", "samples_per_day", "equipment", "reagents"), NEEDS),
    **dict.fromkeys(("substitutions", "controls", "policy_rules"), NEEDS),
    **dict.fromkeys(("reference_protocol", f"labs.{YOUR_LAB}"), LAB),
    **dict.fromkeys(("scenario_id", "domain_id"), CHECK),
}
_TEXT: Final = "own_text"
# Characters that the editor takes: more than a file may have, so that its reader says by how much,
# and a seventh of the largest message, which would end the page's connection.
_LONGEST_TEXT: Final = 300_000


def part_of(path: str) -> str:
    """Return in which part of the form a field stands."""
    return next((part for start, part in _WHERE.items() if path.startswith(start)), ADVANCED)


# --- the check ------------------------------------------------------------------------------


def draw() -> None:
    """Draw what is wrong anywhere, the study's id, what the lint finds, and the region."""
    name, field = st.columns(2)
    with name:
        fields.text("Id in addresses", "scenario_id", max_chars=64)
    with field:
        fields.text("Field of research", "domain_id", max_chars=64)
    now = record.current()
    for path, faults in now.result.faults.items():
        complain(*(f"{part_of(path)}: {fields.fault_text(fault)}" for fault in faults))
    if now.study is not None:
        _draw_lint(now.study)
        if st.toggle("Show the days and samples that fit", value=True, key="making_region"):
            _draw_region(now.study, now.version)


def _draw_lint(study: Study) -> None:
    findings = lint(study)
    warnings = [finding for finding in findings if finding.level is LintLevel.WARNING]
    counts = count_text(len(warnings), "warning"), count_text(len(findings), "finding")
    with st.expander(f"Worth a look: {', '.join(counts)}"):
        for finding in findings:
            status = Status.CAUTION if finding.level is LintLevel.WARNING else Status.PASS
            mark = badge(status, finding.level.value)
            st.markdown(f"{mark} {escaped(finding.place)}: {escaped(finding.message)}")


def _draw_region(study: Study, version: int) -> None:
    pack = pack_of(study, Difficulty.MEDIUM)
    options = PlanAnalysis(assess(study.reference_protocol, pack))
    view = Outlook(pack, options, ViewChoice(study.scenario_id, version))
    title = region_title(view.region)
    means = f"{means_text(pack)}<br>{shade_text(options.yours.evidence)}"
    chart = region_chart(view, (title, means))
    st.plotly_chart(chart, key="making_chart", config=CONFIG, alt=title)


# --- the file -------------------------------------------------------------------------------


def draw_file() -> None:
    """Draw the study's file in an editor, and what is wrong with it, by its lines."""
    now = record.current()
    st.session_state[_TEXT] = now.file
    panel.draw_styles(numbers_style(_TEXT, now.file))
    st.text_area(
        "Study file (YAML)",
        key=_TEXT,
        height=460,
        max_chars=_LONGEST_TEXT,
        on_change=lambda: record.write(str(st.session_state[_TEXT])),
        help="Checked when you click outside, or press Ctrl and Enter.",
    )
    st.caption(
        f"At most {_LONGEST_TEXT:,} characters; a longer paste changes nothing. The form shows "
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
