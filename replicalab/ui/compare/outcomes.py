"""What came of a batch: its heatmap, every result, and the files that it leaves as."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import streamlit as st

from replicalab.batch import Summary, summaries
from replicalab.characters import on_one_line
from replicalab.negotiation import Outcome
from replicalab.render.figures import CONFIG, outcomes_figure
from replicalab.ui.batches import VisitorBatch
from replicalab.ui.files import download
from replicalab.views.batch import agreed_text, group_names, outcomes_text

_MOST_SHOWN: Final = 1000


def draw(batch: VisitorBatch, names: Mapping[str, str]) -> None:
    """Draw how often the two sides agree, by study and players, and lab."""
    found = summaries(batch.came)
    groups = list(map(on_one_line, group_names(found, names)))
    rows, labs = list(dict.fromkeys(groups)), list(dict.fromkeys(str(each.lab) for each in found))
    cells = {(row, str(each.lab)): each for row, each in zip(groups, found, strict=True)}
    title = agreed_text(found)
    chart = outcomes_figure(
        rows,
        labs,
        [[_share(cells.get((row, lab))) for lab in labs] for row in rows],
        [
            [outcomes_text(cells[row, lab]) if (row, lab) in cells else "" for lab in labs]
            for row in rows
        ],
        title,
    )
    st.plotly_chart(
        chart,
        key="batch_chart",
        config=CONFIG,
        theme=None,
        alt=f"{title}, by study, players and lab. The same stands in the table below.",
    )


def _share(found: Summary | None) -> float | None:
    if found is None or not found.shares:
        return None
    agreed = found.shares.get(Outcome.AGREED)
    return agreed.value if agreed else 0.0


def draw_files(batch: VisitorBatch) -> None:
    """Draw every result on demand, and both tables as files."""
    with st.container(horizontal=True, key="batch_files"):
        download("Results as CSV", partial(_csv, batch), "batch.csv")
        download("Results and outcomes as Excel", partial(_excel, batch), "batch.xlsx")
    place = st.expander("Every result", key="batch_results", on_change="rerun")
    if place.open:
        with place:
            _draw_results(batch)


def _csv(batch: VisitorBatch) -> str:
    from replicalab.tables.batch import results_csv  # noqa: PLC0415 - brings pandas in

    return results_csv(list(batch.came))


def _excel(batch: VisitorBatch) -> bytes:
    from replicalab.tables.batch import batch_workbook  # noqa: PLC0415 - brings pandas in

    came = list(batch.came)
    return batch_workbook(came, summaries(came))


def _draw_results(batch: VisitorBatch) -> None:
    from replicalab.tables.batch import results_frame  # noqa: PLC0415 - brings pandas in

    if len(batch.came) > _MOST_SHOWN:
        st.caption(f"The first {_MOST_SHOWN:,}; the files have all.")
    st.dataframe(results_frame(batch.came[:_MOST_SHOWN]), hide_index=True, alt="Every result")
