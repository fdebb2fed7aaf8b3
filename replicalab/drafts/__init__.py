"""A study while a form asks for it: the file's own data, right or wrong, and what it makes.

A form shows a part of a study file. The rest (facts, constraints, rates, what the author expects)
stays in the data untouched, so that a study loses nothing by passing through a form.
"""

from replicalab.drafts.analysis import FEWEST_DAYS, TypedAnalysis, can_safeguard, place_of
from replicalab.drafts.beginning import NEW_NAME, UNSTATED, YOUR_LAB, Block, new_study, stated
from replicalab.drafts.draft import (
    NAME,
    Checked,
    Draft,
    OtherLabs,
    check,
    free_name,
    longest_name,
    renamed,
)
