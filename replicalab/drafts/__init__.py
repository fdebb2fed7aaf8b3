"""A study file while a form edits it, right or wrong; parts that no form shows stay untouched."""

from replicalab.drafts.beginning import NEW_NAME, UNSTATED, YOUR_LAB, Block, new_study, stated_text
from replicalab.drafts.draft import NAME, Draft, OtherLabs, check, free_name, longest_name, rename
from replicalab.drafts.draft_analysis import FEWEST_DAYS, TypedAnalysis, can_safeguard, place_of
