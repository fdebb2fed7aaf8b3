"""The part Code of the drawer Share."""

from collections.abc import Callable

import streamlit as st

from replicalab.features.show_code import CodeSide, compare_command, compare_python, plan_python
from replicalab.negotiation.case import FEWEST_SIDES
from replicalab.ui import compare_page, own_studies, state
from replicalab.ui.file_transfer import download


def panel(_: str, __: None) -> dict[str, Callable[[], None]]:
    return {"Code": _draw}


def _draw() -> None:
    here = CodeSide(state.case(), state.case().pack(own_studies.find))
    commands = "\n".join(map(here.command, ("check", "plan")))
    _draw_code("Protocol and Trade-offs", commands, plan_python(here))
    sides, files = [], dict[str, str]()
    for entry in compare_page.all_sides().cases:
        case = entry.case if entry.is_run else entry.case.restart()
        sides.append(CodeSide(case, case.pack(own_studies.find), entry.name, entry.is_run))
    if len(sides) >= FEWEST_SIDES:
        command, files = compare_command(sides)
        _draw_code("Compare", command, compare_python(sides))
    own = [side for side in (here, *sides) if side.case.own]
    files |= {side.study: own_studies.text_of(side.case.own) for side in own}
    if files:
        st.caption("These files are not part of ReplicaLab. Save them where you run the code.")
    for name, text in files.items():
        download(f"Save {name}", text, name)


def _draw_code(title: str, command: str, code: str) -> None:
    st.markdown(f"**{title}**")
    st.caption("Show as command" if command else "No single command makes this comparison.")
    if command:
        st.code(command, "bash", wrap_lines=True)
    st.caption("Show as Python" if code else "No code repeats these rounds. Send the bundle.")
    if code:
        st.code(code, "python", wrap_lines=True)
