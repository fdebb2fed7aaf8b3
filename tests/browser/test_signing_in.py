"""Signing in by OpenID Connect: each person has a library of their own."""

import json
from collections.abc import Iterator

import pytest
from oidc_provider_mock import User, run_server_in_thread  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from tests.browser.driving import APP, AppServer, free_port

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the provider


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    folder, port = tmp_path_factory.mktemp("signing_in"), free_port()
    people = [User(sub=name, claims={"name": name.title()}) for name in ("ann", "ben")]
    with run_server_in_thread(user_claims=people) as provider:
        issuer = f"http://localhost:{provider.server_port}"
        settings = {
            "redirect_uri": f"http://127.0.0.1:{port}/oauth2callback",
            "cookie_secret": "c" * 40,
            "client_id": "replicalab",
            "client_secret": "secret",
            "server_metadata_url": f"{issuer}/.well-known/openid-configuration",
        }
        secrets = folder / "secrets.toml"
        lines = (f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
        secrets.write_text("[auth]\n" + "".join(lines))
        environment = {
            "STREAMLIT_SECRETS_FILES": str(secrets),
            "REPLICALAB_DATA": str(folder / "data"),
        }
        log = folder / "streamlit.log"
        with AppServer(APP, log, port=port, environment=environment) as running:
            yield running


def sign_in(browser: Browser, server: AppServer, name: str) -> Page:
    page = browser.new_context(base_url=server.url).new_page()
    page.goto("/")
    expect(page.get_by_text("Sign in to continue.")).to_be_visible()
    page.get_by_role("button", name="Sign in").click()
    page.locator("input[name=sub]").fill(name)
    page.locator("input[name=sub]").press("Enter")
    expect(page.get_by_role("link", name="Library")).to_be_visible()
    return page


def test_work_belongs_to_the_person(browser: Browser, server: AppServer) -> None:
    page = sign_in(browser, server, "ann")
    page.goto("/Protocol?study=fin_momentum")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved")).to_be_visible()
    nothing = "Nothing is saved yet."
    for name, count in (("ann", 0), ("ben", 1)):
        other = sign_in(browser, server, name)
        other.goto("/Library")
        expect(other.get_by_label("Search")).to_be_visible()
        expect(other.get_by_text(nothing)).to_have_count(count)
        other.context.close()
    page.get_by_role("button", name="More").click()
    page.get_by_text("Sign out (Ann)").click()
    page.get_by_role("button", name="End session").click()
    expect(page.get_by_text("Sign in to continue.")).to_be_visible()
    page.context.close()
