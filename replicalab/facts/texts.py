"""Sentences and clauses as format strings, which modules of `replicalab.facts` fill in."""

RULE_PERSON = "No rule: a person chose this."
RULE_QUESTION = "Questions are answered from the lab's own data, never from the hidden reference."
RULES = {
    "accept": "Rule 1 of 4: every dimension passes, so it accepts.",
    "report_feasibility": (
        "Rule 2 of 4: the lab constraints pass, but another dimension fails, so it reports."
    ),
    "suggest_alternative": (
        "Rule 3 of 4: a lab constraint fails. With its changes every lab constraint passes and "
        "nothing new fails, so it suggests them."
    ),
    "reject": (
        "Rule 4 of 4: a lab constraint fails, and its changes do not repair all of them, so it "
        "rejects."
    ),
}
SIMPLE_RULE = "A scientist who halves every round: {steps}; {outcome}."
EFFECTS_OFFERED = "Effects to plan with: {effects}."
TWO_GROUPS = "n = {n1} and {n2}"
WORKED_OUT_INTERVAL = "95 % interval {low} to {high}, from the estimate and its standard error."
TAKES = "Takes: the samples that {target} needs. {fits}"
MOVED = "{} → {}"
SHARE = "{number} of {of}, {percent:.0f} % ({low:.0f} to {high:.0f} %)"
PLAYED_AGAIN = "{again} of {number} played again"
AS_KEPT = "{text}: same results."
OTHERWISE = "{text}: {others} with another result. Run the batch again for new results."
UNSPOKEN = "{lab} does not list {items}: taken as in the study’s lab."

DO_NOT_RUN = "Do not run this here: {reason}."

PUT_BACK = "Put back {controls}: the study is void without it."
ENDPOINT_NEEDS = "the study's endpoint needs {needs}, and the lab has {days}"
NOTHING_TO_GAIN = "Nothing to gain here: {reason}."
NONE_BETTER = "No better plan{within}{adding} exists for this lab."
NO_BETTER_FOUND = "No better plan for this lab was found."
NONE_REACHES = "No plan for this lab reaches {floor}."
BEST_FOUND = "The best that was found, not proven to be the best: {failing}."
NONE_PASSES = "No plan{days} for this lab passes every dimension: {failing} at best."
WORDING_BREAKS = "Your wording breaks a restriction, and the search does not change wording."
NOT_ALL_SEARCHED = "Not every combination of the plan's many items and controls could be searched."
SEARCHED = "Searched: all days, sample sizes, allowed substitutions and sets of droppable controls."
NOTHING_NEEDED = "Nothing: the lab can run the plan as it is, and it reaches {goal}."
RUN_TAKES = "To run {plan} unchanged: {additions}."
BUT_FAILS = "; but {failing} whatever the lab adds"
WASTED = "Only {usable} of its {samples} can be analysed{why}."
TARGET_UNREACHED = "With these items and controls no sample size reaches {goal}."
REACHED = "{size} for {goal}. That takes {additions}."

ELSEWHERE = (
    "This plan was saved for another study, '{study}'; here it is judged as a plan for '{here}'."
)
TO_SPARE = "{size} would reach {evidence}; you planned {planned}."
ADDS_STAFF = "One more {noun} adds a staff unit."
SAVES_STAFF = "One {noun} fewer saves a staff unit."
LOSES_ENDPOINT = "One {noun} less and the study shows nothing."
LACKS = "The plan lacks '{control}'."
UNPROTECTED = "Without '{control}' nothing protects against {guards}."
RECRUIT = "Recruit {planned} to analyse {counted}: {dropout} dropout{usable}."
PLANNED_WITHOUT_EFFECT = "Planned, by {method}; no effect is assumed."
PLANNED = "Planned, at an assumed {assumed}, by {method}."
SEEN_AS = ", {effect}{setting} with the substitutions"

NONE_REACHES_HERE = "No sample size reaches {target} in {days}; this lab allows {fits}"
SAMPLES_REACH = "{target} needs {needed}; in {days} this lab allows {fits}"
CURVES_WITHOUT_EFFECT = "planned for {days}, no effect is assumed"
CURVES_ASSUME = "planned for {days}, at an assumed {effect} of {size}"
NO_MORE_COUNT = "No more than {samples} can be analysed: {limit}."
WOULD_REACH = "{samples} in {days} would reach the target."

DESIGN_EFFECT = (
    "{units} with an intraclass correlation of {icc}: design effect {effect}, so that {samples} "
    "are worth {worth} independent ones."
)
SEE_TABLE = "No correlation was given: the table shows the evidence for several."
OMIT_BASELINE = "No correlation was given: leave out the baseline to see the evidence for several."

MOST_AFFORDABLE = "With all else as planned, this lab can afford {samples}."
TERMS = (
    "{measure}: {meaning}; target {target}: the aim of the study; floor {floor}: the "
    "minimum worth running."
)
