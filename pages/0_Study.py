"""Study: the open study in its lab, with its sources, substitutions and restrictions."""

from replicalab.ui import frame, study

with frame.page("Study") as analysis:
    study.draw(analysis)
