"""A case as a command and as Python code."""

from collections.abc import Sequence
from itertools import product
from typing import Any, Final, NamedTuple

from replicalab.facts.document_facts import changes_of, command_line
from replicalab.negotiation import AUTOMATIC
from replicalab.negotiation.case import Case
from replicalab.scenarios import Pack, plan_json

_RESULTS: Final = """print(plan.feasible, plan.cost, plan.evidence.text)
print(replicalab.least_loss(plan).after.cost, replicalab.frontier(plan).frame())"""


class CodeSide(NamedTuple):
    """A case; in a comparison with its name, and whether its negotiation is compared."""

    case: Case
    pack: Pack
    name: str = ""
    is_run: bool = False

    @property
    def study(self) -> str:
        """The id of a shipped study, or the file of an own one."""
        return f"{self.case.study}.yaml" if self.case.own else self.case.study

    def command(self, name: str, *options: str) -> str:
        """Return the command line of `check` or `plan`, or with its options of `compare`."""
        plan = None if options else self.case.plan
        return command_line(name, self.study, self.pack, plan, *options)

    def python(self) -> str:
        """Return the lines of Python that make the plan."""
        own_lab, question, plan = changes_of(self.pack, self.case.plan).values()
        options = {"seed": self.case.seed, "own": own_lab, "question": question}
        changes = _named({name: value for name, value in options.items() if value})
        place = f"{self.study!r}, {self.case.lab.value!r}"
        load = f"lab = replicalab.load({place}{changes})"
        return f"{load}\nplan = replicalab.assess(lab{_named(plan)})"


def _named(values: dict[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in values.items())


def plan_python(side: CodeSide) -> str:
    """Return the Python code of a plan, its least-loss plan and the frontier."""
    return f"import replicalab\n\n{side.python()}\n{_RESULTS}"


def compare_command(sides: Sequence[CodeSide]) -> tuple[str, dict[str, str]]:
    """Return the command that compares the sides, and its plan files by name.

    Empty unless the sides are each of some labs with each of some plans, in that order.
    """
    first = sides[0]
    texts = [plan_json(s.case.plan, s.case.study) if s.case.plan else "" for s in sides]
    names = {text: f"plan-{at}.json" if text else "study" for at, text in enumerate(texts, 1)}
    labs = dict.fromkeys(side.case.lab.value for side in sides)
    placed = [(side.case.lab.value, text) for side, text in zip(sides, texts, strict=True)]
    default = Case.of(first.pack, own=first.case.own)
    same = {"lab": default.lab, "plan": None, "registration": default.registration}
    is_alike = all(s.case.replace(**same) == default and not s.is_run for s in sides)
    if not is_alike or placed != [*product(labs, names)]:
        return "", {}
    options = [word for name in names.values() for word in ("--plan", name)]
    options += [word for lab in labs for word in ("--lab", lab)]
    return first.command("compare", *options), {name: text for text, name in names.items() if text}


def compare_python(sides: Sequence[CodeSide]) -> str:
    """Return the Python code of a comparison; empty if a run follows no rule alone."""
    lines = ["import replicalab\n", "sides = {}"]
    for side in sides:
        case, _, name, is_run = side
        if is_run and (case.moves or case.recording or case.scientist not in AUTOMATIC):
            return ""
        players = f"{case.scientist.value!r}, {case.lab_manager.value!r}, {case.max_rounds}"
        run = f"replicalab.negotiate(plan, {players})"
        lines += [side.python(), f"sides[{name!r}] = {run if is_run else 'plan'}"]
    return "\n".join([*lines, "print(replicalab.compare(**sides).frame())\n"])
