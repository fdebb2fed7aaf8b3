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
