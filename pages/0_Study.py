"""Study: the open study in its lab, with its sources, substitutions and restrictions."""

from replicalab.ui import frame, study_page

frame.page("Study", study_page.draw)
