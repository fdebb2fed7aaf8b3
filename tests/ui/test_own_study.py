"""A visitor's own study: used, saved, shared by a link, renamed, edited and removed."""

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab import limits
from replicalab.library import EntryKind
from replicalab.negotiation import save
from replicalab.scenarios import Difficulty, copy_text, pack_of, parse_study, study_text
from replicalab.ui import own_studies
from replicalab.ui.library_page import shelf as writer
from replicalab.ui.library_page.shelf import owner, shelf
from replicalab.ui.own_studies import cache_key
from tests.negotiation.playing import by_rule
from tests.ui.acting import can_press, labels, number, press, run, type_number
from tests.ui.negotiating import hand_over
from tests.ui.pages import NEGOTIATION, PAGES, PROTOCOL, SCENARIOS, STUDY
from tests.ui.reading import Alert, alerts, keyed, page_text, table, texts, where
from tests.ui.visitors import Browsers, restart
from tests.ui.walking import at_editor, at_gallery, at_making, go, query_of, unopened, visit, write

MINE: Final = copy_text("psy_stroop", "my_stroop")
OTHER: Final = copy_text("phys_millikan", "my_millikan")
RICH: Final = MINE.replace("budget: 1000", "budget: 5000")
TITLE: Final = "Stroop interference"
GONE: Final = "'my_stroop' is not on this server"

pytestmark = pytest.mark.usefixtures("browsers")


def using(*files: str) -> AppTest:
    app = unopened()
    for text in files or (MINE,):
        press(write(app, text), "Use this study")
    return app


def cards_of_visitors(app: AppTest) -> list[str]:
    cards = [text.split("\n")[0] for text in texts(keyed(at_gallery(app), "gallery"))]
    return [line for line in cards if "yours" in line or "shared" in line]


def faults(app: AppTest) -> list[list[str]]:
    [number] = [n for n in range(len(app.table)) if "Problem" in table(app, n)[0]]
    return table(app, number)[1:]


def test_faults_of_a_file_are_listed_and_counted() -> None:
    app = write(unopened(), MINE.replace("budget: 620", "budget: -5"))
    assert Alert("error", "1 fault to correct, under Advanced.") in alerts(app)
    [budget] = faults(app)
    assert budget[1:] == ["labs.hard.budget", "-5 is not allowed", "must be greater than 0"]
    write(app, MINE + "".join(f"\nwrong_{number}: 1" for number in range(60)))
    text = "60 faults to correct, under Advanced. The first 50 are listed."
    assert Alert("error", text) in alerts(app)
    assert len(faults(app)) == 50
    for text in (study_text("psy_stroop"), "[" * 10_000, "!!python/object:os.system {}", "\x00"):
        assert faults(write(app, text))
        assert not can_press(app, "Use this study")


def test_used_study_opens_by_its_address() -> None:
    app = using()
    address = query_of(app)
    assert address["study"] == "my_stroop"
    assert cards_of_visitors(app) == ["Psychology · yours"]
    for page in (PROTOCOL, NEGOTIATION):
        assert where(go(app, page)).startswith(TITLE)
    at_gallery(app).button(key="open_fin_momentum").click()
    assert "own" not in query_of(run(app))
    again = visit(**address)
    assert query_of(again) == address
    assert not [alert for alert in alerts(again) if "opened" in alert.text]
    unknown = visit(study="my_stroop")
    assert "study 'my_stroop' cannot be opened" in page_text(unknown)


def test_study_waits_in_the_editor_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    second = MINE.replace("my_stroop", "my_stroop_2").replace(TITLE, "Stroop again")
    app = using()
    monkeypatch.setattr(limits, "MOST_OWN_STUDIES", 1)
    assert not can_press(write(app, second), "Use this study")
    assert "You keep 1 studies here" in page_text(app)
    assert app.text_area(key="own_text").value == second
    assert can_press(write(press(at_gallery(app), "Remove"), second), "Use this study")


def caption(app: AppTest) -> str:
    text = [str(item.value) for item in at_making(app).caption]
    [result] = [entry for entry in text if "this tab" in entry or "address" in entry]
    return result


def test_used_study_is_saved_in_the_library(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = write(unopened(), MINE)
    assert caption(app).startswith("Only this tab holds it until you press Use this study: ")
    press(app, "Use this study")
    writer.finish()
    assert caption(app).startswith("Saved in your library. ")
    restart(monkeypatch)
    assert cards_of_visitors(unopened()) == ["Psychology · yours"]
    browsers.token = ""
    assert caption(using()).startswith("In this server's memory only: ")


def test_chosen_key_is_not_adopted(browsers: Browsers) -> None:
    chosen = "a" * 32
    app = visit(own=chosen)
    press(write(app, MINE), "Use this study")
    assert query_of(app)["own"] != chosen
    browsers.use()
    theirs = visit(own=chosen, study="my_stroop")
    assert GONE in page_text(theirs)
    assert cards_of_visitors(theirs) == []


@pytest.mark.long
def test_link_reads_the_study_on_every_page(browsers: Browsers) -> None:
    author = browsers.token
    link = query_of(using(OTHER, MINE))
    browsers.use()
    reader = visit(**link)
    assert cards_of_visitors(reader) == ["Psychology · shared with you, to read"]
    for page in PAGES:
        assert where(go(reader, page)).startswith(TITLE)
        assert query_of(reader) == link
        assert not {"Edit", "Remove", "Rename"} & set(labels(reader))
    press(press(go(reader, SCENARIOS), "Copy into the form"), "Use this study")
    assert query_of(reader)["own"] != link["own"]
    press(at_gallery(reader), "Remove")
    browsers.token = author
    assert cards_of_visitors(visit()) == ["Physics · contested · yours", "Psychology · yours"]


def test_reader_of_the_same_id_sees_both(browsers: Browsers) -> None:
    link = query_of(using(RICH))
    browsers.use()
    record = query_of(using(MINE))
    reader = visit(**link)
    both = ["Psychology · shared with you, to read", "Psychology · yours"]
    assert cards_of_visitors(reader) == both
    assert "/ 5,000 credits" in page_text(go(reader, PROTOCOL))
    go(reader, SCENARIOS).button(key="open_my_stroop").click()
    assert query_of(run(reader))["own"] == record["own"]
    assert "/ 1,000 credits" in page_text(go(reader, PROTOCOL))


def test_studies_belong_to_a_browser(browsers: Browsers) -> None:
    using()
    assert cards_of_visitors(press(visit(), "Remove")) == []
    browsers.token = ""
    link = query_of(using())
    assert cards_of_visitors(visit()) == []
    assert cards_of_visitors(visit(**link)) == ["Psychology · shared with you, to read"]


def test_saved_negotiation_opens_in_its_own_study(browsers: Browsers) -> None:
    using()
    study = parse_study(MINE, "mine")
    saved = save(by_rule(pack_of(study, Difficulty.HARD), study.reference_protocol))
    app = hand_over(visit(NEGOTIATION), saved)
    assert where(app).startswith(f"{TITLE} · hard lab")
    assert query_of(app)["own"] == cache_key(browsers.token, "my_stroop")


def test_reader_loses_a_removed_study(browsers: Browsers) -> None:
    author = using()
    mine, link = browsers.token, query_of(author)
    browsers.use()
    reader = visit(PROTOCOL, **link)
    browsers.token = mine
    press(at_gallery(author), "Remove")
    browsers.use()
    assert GONE in page_text(run(reader))
    assert query_of(reader)["study"] == "fin_momentum"
    late = visit(PROTOCOL, **link)
    assert GONE in page_text(late)
    assert GONE not in page_text(press(late, "Dismiss"))


def rename(app: AppTest, name: str) -> AppTest:
    app.session_state["study_rename"] = True
    go(app, STUDY)
    next(field for field in app.text_input if field.label == "Name of the study").set_value(name)
    return press(app, "Rename it")


def test_renamed_study_keeps_file_and_plan() -> None:
    noted = f"{MINE}# a note\n"
    app = type_number(go(using(noted), PROTOCOL), "Sample size", 31)
    address = query_of(app)
    rename(app, "  Colours   and words ")
    assert where(app).startswith("Colours and words · ")
    assert query_of(app) == address
    assert number(go(app, PROTOCOL), "Sample size").value == 31
    [study] = own_studies.studies().values()
    assert study.text == noted.replace(f'"{TITLE}"', '"Colours and words"')
    writer.finish()
    [entry] = shelf().entries(owner(), EntryKind.STUDY)
    assert (entry.name, entry.version) == ("Colours and words", 2)


def test_refused_name_changes_nothing() -> None:
    app = using(OTHER, MINE)
    before = own_studies.studies()
    for name, problem in (("", "A study needs a name."), ("a\u202eb", "U+202E")):
        assert any(problem in alert.text for alert in alerts(rename(app, name)))
    assert "Another study is named “momentum Returns”" in page_text(
        rename(app, "momentum  Returns")
    )
    assert own_studies.studies() == before


def test_edited_study_replaces_the_used_one() -> None:
    app = type_number(go(using(), PROTOCOL), "Sample size", 31)
    press(go(app, STUDY), "Edit")
    assert app.text_input[0].value, "the form has its values"
    assert at_editor(app).text_area(key="own_text").value == MINE
    assert "It replaces your present 'my_stroop'." in page_text(write(app, RICH))
    press(app, "Use this study")
    assert number(go(app, PROTOCOL), "Sample size").value == 31
    assert "5,000 credits" in page_text(app)
    press(at_gallery(app), "Remove")
    assert query_of(app)["study"] == "fin_momentum"
    assert "12 studies." in page_text(at_gallery(app))
