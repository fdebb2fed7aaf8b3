"""Open the app in this process, and go to a page or a part of it."""

from unittest.mock import patch

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from replicalab.ui import scenarios_page, study_form
from tests.browser.driving import APP
from tests.ui.acting import labels, press, run
from tests.ui.pages import NEED_STUDY, SCENARIOS

# Streamlit would read the metadata of all packages, in search of components that no page uses.
patch.object(manifest_scanner, "scan_component_manifests", list).start()


def visit(page: str = SCENARIOS, **query: str) -> AppTest:
    return run(unopened(page, **query))


def unopened(page: str = SCENARIOS, **query: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    if page in NEED_STUDY:
        app.query_params["study"] = "fin_momentum"
    for key, value in query.items():
        app.query_params[key] = value
    if page != SCENARIOS:
        app.switch_page(page)
    return app


def go(app: AppTest, page: str) -> AppTest:
    return run(app.switch_page(page))


def query_of(app: AppTest) -> dict[str, str]:
    return {
        key: value if isinstance(value, str) else value[0]
        for key, value in app.query_params.items()
    }


def show(app: AppTest, tab: str, key: str) -> AppTest:
    app.session_state[key] = tab
    return run(app)


def at_making(app: AppTest) -> AppTest:
    return show(app.switch_page(SCENARIOS), scenarios_page.MAKE, scenarios_page.TABS)


def at_editor(app: AppTest) -> AppTest:
    app.session_state[study_form.PARTS_KEY] = study_form.ADVANCED
    at_making(app)
    if "Start the form" in labels(app):
        press(app, "Start the form")
        show(app, study_form.ADVANCED, study_form.PARTS_KEY)
    return app


def write(app: AppTest, text: str) -> AppTest:
    at_editor(app).text_area(key="own_text").set_value(text)
    return run(app)


def at_gallery(app: AppTest) -> AppTest:
    return show(app.switch_page(SCENARIOS), scenarios_page.ALL_STUDIES, scenarios_page.TABS)


def unfolded(app: AppTest) -> AppTest:
    app.session_state["as_table"] = True
    return run(app)
