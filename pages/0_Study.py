"""Study: the open study in its lab, with its sources, substitutions and restrictions."""

from replicalab.ui import frame, study

frame.page("Study", study.draw)
