"""Sentences and clauses as format strings, which modules of `replicalab.facts` fill in."""

ANSWERS_QUESTION = "Answers from the lab's own data; no plan was put forward."
PERSON_COUNTERS = "A person offers another plan."
PERSON_REJECTS = "A person rejects the plan."
RULE_WALKED_AWAY = "The Scientist has left: no answer is needed."
RULE_PERSON = "No rule: a person chose this."
RULE_QUESTION = "Questions are answered from the lab's own data, never from the hidden reference."
RULE_NO_PLAN = "There is no plan to check, so it asks for one."
RULES = {
    "accept": "First in its order: every dimension passes, so it accepts.",
    "report_feasibility": (
        "Second in its order: the lab constraints pass, but not every dimension, so it reports."
    ),
    "suggest_alternative": (
        "Third in its order: a lab constraint fails, and its changes improve the plan and leave no "
        "lab constraint failing, so it suggests them."
    ),
    "reject": (
        "Last in its order: a lab constraint fails, and no changes that it may make repair every "
        "one, so it rejects."
    ),
}
CHANGE = "{field}: {change.original} → {change.revised}. {change.reason} Lost: {change.tradeoff}"
AGREED = "{title} in round {round}: {size}; {evidence}"
FALSE_AGREEMENT = (
    "{title} in round {round}: {ending}, but {standing}, so the lab {refusal} the plan of {size}"
)
NO_DEAL = "{title} after round {round}: {ending}; the last plan was {size}, and {standing}"
ENDED_WITHOUT_PLAN = "{title}: {ending} with no plan on the table"
NEXT_ROUND = "Next is round {round} of at most {most}"
WAITS_FOR_ANSWER = "Round {round} of at most {most} waits for the Lab Manager"
NO_PLAN_YET = "no plan is on the table yet"
ON_THE_TABLE = "{here}: on the table is the plan of {size}, and {standing}"
OFFERED = "; the Lab Manager offers {size}: {evidence}"
ALL_PASS = "every dimension passes"
SIMPLE_RULE = "Simple rule: {samples} {noun}; {measure} {values}; {outcome}."
ASKING_COST = "A question takes this round; {left} left."
NOTHING_GIVEN = "Neither side gave anything."
TAKES_OFFER = "Takes the Lab Manager's offer."
TAKES_PLAN = "Takes the plan."
NOT_OFFERED = "{name} is not offered: {why}."
EFFECTS_OFFERED = "Effects to plan with: {effects}."
TWO_GROUPS = "n = {n1} and {n2}"
WORKED_OUT_INTERVAL = "95 % interval {low} to {high}, from the estimate and its standard error."
OWN_STANDARD_ERROR = "{test}; by its standard error {z}"
NO_SAMPLE_IS_ENOUGH = "no sample is enough for the target"
TARGET_TAKES = "target takes {samples}"
FITS = "{fits} here{counted}."
TAKES = "Takes: the samples for {target}. {fits}"
SHARE = "{number} of {of}, {percent:.0f} % ({low:.0f} to {high:.0f} %)"
PLAYED_AGAIN = "{again} of {number} played again"
AS_KEPT = "{text}: all as they were kept."
OTHERWISE = "{text}, {others} with another result. Run the batch again for new ones."
ALREADY_IN_REFERENCE = "The reference protocol has {planned}; that change stands above."
IN_ALL = "{terms}. In all {cost} of {budget}."
UNSPOKEN = "{lab} says nothing of {items}; as in the study’s lab."
EACH_STUDYS_LAB = "Each study in its own {written}, as written: say above what yours has."
OWN_LAB = "Your lab{name}: {changes}; the rest is each study’s own, of its {written}."
SAME_COURSE = "The fork made no difference."

FRONTIER_PASSED = "Evidence for {currency}: no plan beats yours"
FRONTIER_BEATEN = "Evidence for {currency}: better plans"
REPLACED = "'{new}' instead of '{old}'"
DONE_WITHOUT = "no '{old}'"
BEATEN = "A better plan fits this lab."
DOES_NOT_FIT = "Your plan does not fit this lab: {failing}."
NONE_AS_STRONG = "No plan that {fits} has as much evidence as yours."
NOR_EVIDENCE = "Nor would it yield evidence: {reason}."
UNBEATEN = (
    "Nothing{adding} beats your plan: more evidence takes more {currency}, more days, or more "
    "given up of the study."
)
UNBEATEN_NOT_PROVEN = (
    "Nothing that was found beats your plan. That is not proven: not every combination of its "
    "many items and controls could be searched."
)
PASSES_FOR_NOTHING = "Your plan passes every dimension and shows nothing: {reason}."
NONE_WITH_EVIDENCE = "No plan that fits this lab has any evidence."
TO_REACH_FLOOR = "It would take {ways} to reach the floor."
TO_RUN_YOURS = "To run your plan it would take {additions}."
NO_BALANCE = (
    "There is no balanced plan: none that {fits} reaches the floor of {floor}, so an agreement "
    "would leave the Scientist with nothing."
)
OUTSIDE_PICTURE = "No plan that fits lies in the picture: the best has {evidence}."
NO_ADDITION = "The least-loss plan meets the target and loses no fidelity."
FRONTIER_LINES = (
    "One line for each fidelity loss: the sum of the losses of the study, up to 3 for a "
    "substitution and 1 for a dropped control."
)
FRONTIER_BALANCED = (
    "Balanced, by Nash’s rule: the plan at which the two gains, multiplied, are largest; a plan "
    "that gives up some of the study counts for less."
)
FRONTIER_DAYS = "A plan that nothing beats only because it takes fewer days is not drawn."
FRONTIER_CAPTION = (
    "{listed} of {plans} plans: of each line the cheapest, the dearest, and some between them, "
    "evenly spaced by {currency}"
)
REGION_NOTHING = "With these items and controls nothing fits this lab"
REGION_COUNTS = "Fits and counts: {span}"
REGION_ALL = "Fits: {span}"
REGION_LOSES = "Fits, but not all samples count: {span}"
REGION_VOID = "Whatever fits {where} yields no evidence"
REGION_SPAN = "up to {samples}, {days}"
REGION_SHADE = "deeper blue: {better} {measure}"
REGION_FILLINGS = "No blue: no evidence; hatched: does not fit."
REGION_ALT = (
    "{title} {means}. Days against samples, with the planned evidence and each limit; the table "
    "below has the same numbers."
)
FRONTIER_ALT = "{title}, {means}. Cost against evidence; the table below has the same numbers."
REGION_CLICK = "Click to choose a point ✕."
REGION_LOST = "Dotted: fits, but samples, or the study’s endpoint, are lost."
REGION_STAR = "* Your plan keeps its own items, which the chart does not have."
REGION_FAILS = "The lines show the limits of the numbers alone."
NOT_PROVEN_BEST = "The best plan found shows nothing; a better one is not ruled out."
DO_NOT_RUN = "Do not run this here: {reason}."
NOTHING_IN_FEWER = "{none} every dimension, and in fewer days nothing is shown"
EFFECT_NOT_ASSUMED = "This study’s evidence does not rest on an assumed effect."
EFFECT_ALONE = "The evidence rests on an assumed {effect} of {size}; try others on Protocol."

PUT_BACK = "Put back {controls}: the study is void without it."
ENDPOINT_NEEDS = "the study's endpoint needs {needs}, and the lab has {days}"
NOTHING_TO_GAIN = "Nothing to gain here: {reason}."
NO_LESS_FOUND = "No revision of {whose} that gives up less was found."
NONE_GIVES_UP_LESS = "In this lab no revision of {whose}{within}{adding} gives up less."
NONE_REACHES = "No plan for this lab reaches {floor}."
BEST_FOUND = "The best that was found, not proven to be the best: {failing}."
NO_PLAN_PASSES = "no plan{days} for this lab passes"
NONE_PASSES = "{none} every dimension: {failing} at best."
WORDING_BREAKS = (
    "Your wording breaks a restriction, and the search does not change wording. Remove {phrases}."
)
PHRASE = "'{phrase}' from the {field}"
NOT_ALL_SEARCHED = "Not every combination of the plan's many items and controls could be searched."
SEARCHED = (
    "Searched: every number of days {first}to {last}, every allowed substitution, every set of "
    "droppable controls{listed}, every sample size."
)
LISTED_CONTROLS = " that the plan lists"
NOTHING_NEEDED = "Nothing: the lab can run the plan as it is, and it reaches {goal}."
NOTHING_TO_RUN = "Nothing: the lab can run the plan as it is."
NOTHING_ADDED_HELPS = "Nothing that the lab could add is enough: {failing} all the same."
ADDED = "{additions}: with that the lab can run the plan as it is."
ADDED_BUT_FAILS = "{additions}; but {failing} whatever the lab adds."
WASTED = "Of its {samples} only {able} can count{instead}."
PLAN_INSTEAD = "; plan {ways}"
NO_MORE = "no more than these"
TARGET_UNREACHED = "With these items and controls no sample size reaches {goal}."
LEAST_IS_ENOUGH = "Nothing is needed if you take the least-loss plan. With your own items: {own}"
REACHED = "Nothing: {size}, and the lab has the means."
REACHED_BUT_FAILS = "{size}, but {failing} whatever the lab adds."
REACHED_WITH = "{size}. That takes {additions}."
REACHED_AND_FAILS = "{size}. That takes {additions}; but {failing} all the same."
ALONE = "{ask}: {adapted}, for {goal}."
ALL_KEPT = "With every control kept: {ask}."
NONE_KEPT = "With every control kept it is not enough."
LOSS_IN_ALL = " (fidelity loss {loss} in all)"
STILL = "; {failing} all the same"
WAIT = "Start on day {day}: {items} free, {left} left. Then {adapted}: {evidence}{still}."
REACHED_ALONE = "Nothing: {whose} reaches {goal}."
NONE_ALONE = "No single addition reaches {goals}."
ALL_SHOWS = "All there is, {size}, shows {measure}."
MOST_SHOWS = "All that can be planned here, {size}, shows {measure}."
ALIKE = (
    "in {units} of {unit.samples:g} with a correlation of {unit.icc:g}; independent ones would "
    "show {alone}"
)

ELSEWHERE = (
    "This plan was saved for another study, '{study}'; here it is judged as a plan for '{here}'."
)
TO_SPARE = "{size} would reach {evidence}; you planned {planned}."
ADDS_STAFF = "One more {noun} adds a staff unit."
SAVES_STAFF = "One {noun} fewer saves a staff unit."
LOSES_ENDPOINT = "One {noun} less and the study shows nothing."
STAFF_STEP = "{adds} for more than {limit}"
FIXED_CONTROL = "It is a fixed control: the study is void without it."
LACKS = "The plan lacks '{control}'."
UNPROTECTED = "Without '{control}' nothing protects against {guards}."
ASSUMPTIONS = "{number} assumptions, yours"
SAMPLES_IN_ALL = "{total} in all: {parts}."
RECRUIT = "Recruit {planned} to analyse {counted}: {dropout} dropout."
RECRUIT_OF_ABLE = "Of {planned}, {able} can count ({why}); {dropout} dropout leaves {counted}."
NO_MORE_EXIST = "no more exist"
RATE = "{rate} a day, {days}"
PLANNED_WITHOUT_EFFECT = "Planned, by {method}; no effect is assumed."
PLANNED = "Planned, at an assumed {assumed}, by {method}."
SEEN_AS = ", seen as {effect}{setting} through the substitutions"
MARKS = "Dotted mark: floor {floor}; solid mark: target {target}."
HARDLY, UNCHANGED = "hardly changed", "unchanged"

NONE_REACHES_HERE = "No sample reaches {target} in {days}; you can afford {fits}"
SAMPLES_REACH = "{target} needs {needed} samples; in {days} you can afford {fits}"
CURVES_WITHOUT_EFFECT = "planned for {days}, no effect is assumed"
CURVES_ASSUME = "planned for {days}, at an assumed {effect} of {size}"
NO_MORE_COUNT = "No more than {samples} can count: {limit}."
WOULD_REACH = "{samples} in {days} would reach the target."
NO_SIZE_AT = "No sample size up to {most} reaches the target at the effect {effects}."
NO_SIZE_IN_DAYS_AT = (
    "In {days} no sample size up to {most} reaches the target at the effect {effects}."
)

UNITS = "{units} of {value.samples:g}, correlation {icc}"
FIRST_ARM = "{share} in the first arm"
ARMS_OF = "Arms of {arms}."
LEFT_IN_EACH = ", {left} left in each,"
DESIGN_EFFECT = (
    "{units}{left} with an intraclass correlation of {icc}: design effect {effect}, so that "
    "{samples} are worth {worth} independent ones."
)
NO_CORRELATION = (
    "Treats samples of one {unit} as independent, because no intraclass correlation was given. "
    "{otherwise}"
)
SEE_TABLE = "The table has the evidence for some correlations."
OMIT_BASELINE = "Leave out the baseline to see the evidence for some correlations."
IN_EACH = "{samples} in each {unit}"
UNITS_FOR_TARGET = "{target} takes {ways}"
NO_SIZE_SHOWS = "no number of samples shows more than {measure} {most}"
WITH_UNITS = "With {units} {takes}."
IN_ARMS = "{units} in the arms"
IN_EACH_ARM = "{units} in each arm"

NO_EVIDENCE = "It yields no evidence: {reason}."
EVIDENCE = "Planned evidence: {evidence}."
NONE_AFFORDABLE = "With the rest as planned no sample is affordable."
MOST_AFFORDABLE = "With the rest as planned at most {samples} are affordable: {evidence}."
TERMS = (
    "{measure}: {meaning}; target {target}: the aim of the study; floor {floor}: the least worth "
    "running."
)
LAB_LINE = "{fails}; the Lab Manager {answer}"
REFERENCE_PASSES = (
    "The reference protocol ({need}) passes all {number} checks. This lab can run it."
)
REFERENCE_FAILS = "The reference protocol ({need}) fails here on {failing}."
NOT_APPROVED = "The lab has the means, but the Lab Manager does not approve it."
REJECTED = "The Lab Manager rejects it: after every change it may make, {failing}."
OFFERS = "The Lab Manager offers {need}: {move}."
EVIDENCE_LOST = "planned {evidence} is lost, since {reason}"
EVIDENCE_MOVES = "{after} (planned: {before})"
