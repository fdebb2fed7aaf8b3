"""A batch: how often each outcome came, a row for each group of negotiations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from replicalab.batch import Summary
from replicalab.panels.drawing import Bar, drawn
from replicalab.text.batch import failed_text, share_text
from replicalab.text.negotiation import LAB_MANAGERS, OUTCOME_STATUS, OUTCOME_TITLES, SCIENTISTS


def shares_panel(found: Iterable[Summary], names: Mapping[str, str], why: Iterable[str]) -> str:
    """Return the share of each outcome in each group, with its 95 % interval as two marks.

    Args:
        found: the groups.
        names: of the studies, by their ids.
        why: what kept some from being played.
    """
    return drawn("shares", groups=[_group(each, names) for each in found], why=[*why])


def _group(found: Summary, names: Mapping[str, str]) -> dict[str, object]:
    players = SCIENTISTS[found.scientist].name, LAB_MANAGERS[found.lab_manager].name
    return {
        "study": names.get(found.study, found.study),
        "lab": str(found.lab),
        "players": " · ".join(players),
        "rows": [
            {
                "outcome": OUTCOME_TITLES[outcome],
                "status": OUTCOME_STATUS[outcome],
                "bar": Bar(share.value, share.interval),
                "text": share_text(share),
            }
            for outcome, share in found.shares.items()
        ],
        "failed": failed_text(found.failed) if found.failed else "",
    }
