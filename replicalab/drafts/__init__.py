"""A study file in a form, valid or not; parts that the form does not show stay as they are."""

from replicalab.drafts.beginning import NEW_NAME, UNSTATED, YOUR_LAB, Block, new_study, stated_text
from replicalab.drafts.draft import NAME, Draft, OtherLabs, check, free_name, longest_name, rename
from replicalab.drafts.draft_analysis import FEWEST_DAYS, TypedAnalysis, can_safeguard, place_of
