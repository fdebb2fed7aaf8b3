"""Full sentences as format strings; all other text is labels and rows of facts.

Each constant is one sentence or clause. Modules of `replicalab.facts` fill in numbers and names.
"""

# --- negotiation ----------------------------------------------------------------------------

ANSWERS_QUESTION = "Answers from the lab's own data; no plan was put forward."
PERSON_COUNTERS = "A person offers another plan."
PERSON_REJECTS = "A person rejects the plan."
RULE_WALKED_AWAY = "The Scientist has left: no answer is needed."
RULE_PERSON = "No rule: a person chose this."
RULE_QUESTION = "Questions are answered from the lab's own data, never from the hidden reference."
RULE_NO_PLAN = "There is no plan to check, so it asks for one."
RULES = {
    "accept": "First in its order: all seven dimensions pass, so it accepts.",
    "report_feasibility": (
        "Second in its order: the five lab constraints pass, but not all seven dimensions, so it "
        "reports."
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
ALL_PASS = "all seven dimensions pass"
SIMPLE_RULE = "Simple rule: {samples} {noun}; {measure} {values}; {outcome}."
ASKING_COST = "A question takes this round; {left} left."
NOTHING_GIVEN = "Neither side gave anything."
TAKES_OFFER = "Takes the Lab Manager's offer."
TAKES_PLAN = "Takes the plan."
SAME_COURSE = "The fork made no difference."

# --- trade-offs -----------------------------------------------------------------------------

FRONTIER_PASSED = "Evidence for {currency}: where your plan stands"
FRONTIER_BEATEN = "Evidence for {currency}: what can be had instead"
REPLACED = "'{new}' for '{old}'"
DONE_WITHOUT = "no '{old}'"
BEATEN = "Another plan that fits this lab is better."
DOES_NOT_FIT = "Your plan does not fit this lab: {failing}."
NONE_AS_STRONG = "No plan that fits has as much evidence as yours."
NONE_FOUND_AS_STRONG = "No plan that was found to fit has as much evidence as yours."
NOR_EVIDENCE = "Nor would it yield evidence: {reason}."
UNBEATEN = (
    "Nothing{adding} beats your plan: more evidence takes more {currency}, more days, or more "
    "given up of the study."
)
UNBEATEN_NOT_PROVEN = (
    "Nothing that was found beats your plan. That is not proven: not every combination of its "
    "many items and controls could be searched."
)
PASSES_FOR_NOTHING = "Your plan passes all seven dimensions and shows nothing: {reason}."
NONE_WITH_EVIDENCE = "No plan that fits this lab has any evidence."
TO_REACH_FLOOR = "It would take {ways} to reach the floor."
TO_RUN_YOURS = "To run your plan it would take {additions}."
NO_BALANCE = (
    "There is no balanced plan: {none} reaches the floor of {floor}, so an agreement would leave "
    "the Scientist with nothing."
)
OUTSIDE_PICTURE = "No plan that fits lies in the picture: the best has {evidence}."
NO_ADDITION = "The least-loss plan meets the target and loses no fidelity."
FRONTIER_LINES = (
    "One line for each fidelity loss: the sum of what is given up of the study, up to 3 for a "
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
REGION_COUNTS = "What fits and counts: {span}"
REGION_ALL = "What fits: {span}"
REGION_LOSES = "What fits, but does not all count: {span}"
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
REGION_FAILS = "The lines show what the numbers alone would allow."
NOT_PROVEN_BEST = "The best plan that was found shows nothing; that none is better is not proven."
DO_NOT_RUN = "Do not run this here: {reason}."
NOTHING_IN_FEWER = "{none} all seven dimensions, and in fewer days nothing is shown"
EFFECT_NOT_ASSUMED = "This study’s evidence does not rest on an assumed effect."
EFFECT_ALONE = "The evidence rests on an assumed {effect} of {size}; try others on Protocol."
