"""The last look at a study: what is wrong anywhere, what the lint finds, and the region."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.assessment import assess
from replicalab.drafts import YOUR_LAB
from replicalab.figures import CONFIG
from replicalab.lexicon import count_text
from replicalab.lint import LintLevel, lint
from replicalab.planner import Options
from replicalab.scenarios import Difficulty, Study, pack_of
from replicalab.text.tradeoffs import means_text, region_title, shade_text
from replicalab.text.verdicts import Status
from replicalab.ui.making import fields, record
from replicalab.ui.tradeoffs.outlook import Choice, Outlook
from replicalab.ui.tradeoffs.region import region_chart
from replicalab.ui.words import badge, escaped

COMPARISON: Final = "Comparison"
ASSUMPTIONS: Final = "Assumptions"
NEEDS: Final = "Needs"
LAB: Final = "Lab and plan"
CHECK: Final = "Check"
ADVANCED: Final = "Advanced"
_WHERE: Final = {
    "paper.title": COMPARISON,
    "paper.short_title": COMPARISON,
    "paper.goal": COMPARISON,
    "design.kind": COMPARISON,
    "design": ASSUMPTIONS,
    "min_days": NEEDS,
    "samples_per_day": NEEDS,
    "equipment": NEEDS,
    "reagents": NEEDS,
    "substitutions": NEEDS,
    "controls": NEEDS,
    "policy_rules": NEEDS,
    "reference_protocol": LAB,
    f"labs.{YOUR_LAB}": LAB,
    "scenario_id": CHECK,
    "domain_id": CHECK,
}
"""In which part of the form a field stands, by the beginning of its path; others in none."""


def part_of(path: str) -> str:
    """Return in which part of the form a field stands."""
    return next((part for start, part in _WHERE.items() if path.startswith(start)), ADVANCED)


def draw() -> None:
    """Draw what is wrong anywhere, the study's id, what the lint finds, and the region."""
    name, field = st.columns(2)
    with name:
        fields.text("Id in addresses", "scenario_id", max_chars=64)
    with field:
        fields.text("Field of research", "domain_id", max_chars=64)
    now = record.current()
    for path, faults in now.found.faults.items():
        for fault in faults:
            st.error(
                f"{part_of(path)}: {escaped(fields.fault_text(fault))}",
                icon=":material/edit_off:",
            )
    if now.study is not None:
        _draw_lint(now.study)
        if st.toggle("Show the days and samples that fit", value=True, key="making_region"):
            _draw_region(now.study, now.version)


def _draw_region(study: Study, version: int) -> None:
    pack = pack_of(study, Difficulty.MEDIUM)
    options = Options(assess(study.reference_protocol, pack))
    view = Outlook(pack, options, Choice(study.scenario_id, version))
    title, means = (
        region_title(view.region),
        f"{means_text(pack)}<br>{shade_text(options.yours.evidence)}",
    )
    st.plotly_chart(
        region_chart(view, (title, means)), key="making_chart", config=CONFIG, alt=title
    )


def _draw_lint(study: Study) -> None:
    findings = lint(study)
    warnings = [finding for finding in findings if finding.level is LintLevel.WARNING]
    counted = count_text(len(warnings), "warning"), count_text(len(findings), "finding")
    with st.expander(f"Worth a look: {', '.join(counted)}"):
        for finding in findings:
            mark = badge(
                Status.CAUTION if finding.level is LintLevel.WARNING else Status.PASS,
                finding.level.value,
            )
            st.markdown(f"{mark} {escaped(finding.place)}: {escaped(finding.message)}")
