"""Where a list says what may be asked, nothing else is, however its address is written."""

from __future__ import annotations

import pytest

from replicalab.errors import ModelSettingsError
from replicalab.llm import ALLOWED_SETTING, Allowed, Endpoint

LIST = "https://api.openai.com, http://127.0.0.1:11434/v1,models.example.org:8443, http://[::1]:80"


@pytest.mark.parametrize(
    "address",
    [
        "https://api.openai.com",
        "https://api.openai.com/v1/",
        "HTTPS://API.OpenAI.com:443/anything",
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:11434/v1//",
        "https://models.example.org:8443/v1",
        "http://[::1]/v1",
        "http://[0:0:0:0:0:0:0:1]:80/v1",
    ],
)
def test_address_on_the_list_may_be_asked_however_it_is_written(address: str) -> None:
    assert address in Allowed(LIST)
    assert endpoint_of(address, LIST).base_url == address.rstrip("/")


@pytest.mark.parametrize(
    "address",
    [
        "http://api.openai.com",
        "https://api.openai.com:8443",
        "https://api.openai.com:80",
        "https://api.openai.com.evil.example",
        "https://api.openai.com.",
        "https://evil.example/api.openai.com",
        "https://evil.example/https://api.openai.com",
        "https://xapi.openai.com",
        "https://openai.com",
        "https://api-openai.com",
        "http://127.0.0.1:11434",
        "http://127.0.0.1:11434/v1x",
        "http://127.0.0.1:11434/v1/admin",
        "http://127.0.0.1:11434/v1/../admin",
        "http://127.0.0.1:11434/%76%31",
        "http://127.0.0.1:11435/v1",
        "http://localhost:11434/v1",
        "http://2130706433:11434/v1",
        "http://127.1:11434/v1",
        "http://0x7f000001:11434/v1",
        "http://[::ffff:127.0.0.1]:11434/v1",
        "https://[::1]/v1",
        "http://[::1]:8080/v1",
        "https://models.example.org",
        "http://169.254.169.254/latest/meta-data",
    ],
)
def test_address_that_only_looks_like_one_on_the_list_is_refused(address: str) -> None:
    assert address in Allowed(None), "where there is no list, anything may be asked"
    with pytest.raises(ModelSettingsError) as caught:
        endpoint_of(address, LIST)
    told = str(caught.value)
    assert told.startswith("REPLICALAB_LLM_BASE_URL: this address may not be asked. Only these")
    assert "https://api.openai.com, http://127.0.0.1:11434/v1, https://models.exa" in told
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "address",
    [
        "https://api.openai.com@evil.example/v1",
        "https://api.openai.com:443@evil.example",
        "https://evil.example#@api.openai.com",
        "https://evil.example\\@api.openai.com",
        "https://api.openai.com%2eevil.example",
        "https://api\u3002openai.com",
        "https://api.openai.com\u2100.evil.example",
        "https://api.openai\u2024com",
        "https://model\u017f.example.org:8443",
        "https://api.openai.com:\u0664\u0664\u0663",
        "http://[::1%25lo]/v1",
        "http://[::1::]/v1",
    ],
)
@pytest.mark.parametrize("listed", [LIST, None])
def test_address_that_two_readers_may_take_for_two_is_no_address(
    address: str, listed: str | None
) -> None:
    with pytest.raises(ModelSettingsError, match="REPLICALAB_LLM_BASE_URL"):
        endpoint_of(address, listed)


@pytest.mark.parametrize("listed", ["none", "", " ", ",", "None, none"])
def test_list_of_nothing_allows_nothing(listed: str) -> None:
    with pytest.raises(ModelSettingsError, match="No language model may be asked here"):
        endpoint_of("https://api.openai.com", listed)


@pytest.mark.parametrize("listed", ["ftp://x", "https://*.example.org", "a b", "https://x:99999"])
def test_list_with_a_bad_entry_allows_nothing_and_is_named(listed: str) -> None:
    with pytest.raises(ModelSettingsError, match=f"^{ALLOWED_SETTING}: "):
        endpoint_of("https://api.openai.com", f"https://api.openai.com,{listed}")


def endpoint_of(address: str, listed: str | None) -> Endpoint:
    env = {"REPLICALAB_LLM_BASE_URL": address, "REPLICALAB_LLM_MODEL": "m"}
    found = Endpoint.from_environment(env | ({} if listed is None else {ALLOWED_SETTING: listed}))
    assert found is not None
    return found
