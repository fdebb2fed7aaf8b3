"""What a reviewer would ask of a plan: each question, where it stands, and where to mend it."""

from replicalab.documents import Report
from replicalab.facts.blocks import Part, part
from replicalab.features.critique.questions import PROTOCOL, QUESTIONS, ReviewQuestion, critique
from replicalab.features.critique.remarks import Place, Remark, RemarkStanding, Reviewed, who_asks
from replicalab.features.critique.views import TITLE, critique_blocks


def section(report: Report) -> list[Part]:
    """Return the questions as a part of the report."""
    return [part(TITLE, *critique_blocks(critique(report.shown.yours, report.answers)))]
