"""What a valid study file may still have wrong: a second look before others rely on it.

A fault keeps a file from being used, and reading the file names it. What is found here keeps
nothing from being used: a note says how the study plays in a lab, a warning what its author
should see.
"""

from __future__ import annotations

from typing import Final

from replicalab.lint.findings import LintFinding, LintLevel, note
from replicalab.lint.labs import in_each_lab, lab_findings
from replicalab.lint.numbers import number_findings
from replicalab.lint.parts import plan_findings, policy_findings, substitution_findings
from replicalab.scenarios import Study

__all__ = ["LintFinding", "LintLevel", "lint"]


MOST_FINDINGS: Final = 100
"""Of more findings than these, the rest are only counted."""


def lint(study: Study) -> list[LintFinding]:
    """Return what is worth a look in a study: its labs first, then part by part."""
    answers = in_each_lab(study)
    found = [
        *lab_findings(answers),
        *number_findings(study),
        *plan_findings(study, answers[0].reference),
        *substitution_findings(study),
        *policy_findings(study),
    ]
    more = len(found) - MOST_FINDINGS
    if more <= 0:
        return found
    return [*found[:MOST_FINDINGS], note("the rest", f"{more:,} more findings; mend these first.")]
