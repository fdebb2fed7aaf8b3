"""What a reviewer would ask of a plan: each question, where it stands, and where to mend it."""

from replicalab.critique.questions import PROTOCOL, QUESTIONS, ReviewQuestion, critique
from replicalab.critique.remarks import Place, Remark, RemarkStanding, Reviewed, who_asks

__all__ = [
    "PROTOCOL",
    "QUESTIONS",
    "Place",
    "Remark",
    "RemarkStanding",
    "ReviewQuestion",
    "Reviewed",
    "critique",
    "who_asks",
]
