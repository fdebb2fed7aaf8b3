"""Study: the open study in its lab, with its sources, and what may be replaced or is forbidden."""

from replicalab.ui import frame, study

with frame.page("Study") as analysis:
    study.draw(analysis)
