"""The report page in a real browser: headless Chromium, driven through its own protocol and nothing else."""

from __future__ import annotations

import importlib.util
import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tscg
from tscg.demo.tools import TOOLS
from tscg.ir import Catalog
from tscg.page.data import PageData, page_data
from tscg.page.write import html

if TYPE_CHECKING:
    from selenium.webdriver.chrome.webdriver import WebDriver

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
MISSING = [
    what
    for what, there in (
        ("chromium", CHROMIUM), ("chromedriver", DRIVER), ("selenium", importlib.util.find_spec("selenium")),
    )
    if not there
]  # fmt: skip
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    # Names of other machines are not even looked up.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
SIZES = ((390, 844), (1024, 768), (1600, 1000))

EVIL = "</script><img src=x onerror=window.hacked=1><script>window.hacked=1</script>{{script}}"
MIXED: list[dict[str, Any]] = [
    *(tool.to_mcp() for tool in TOOLS[:8]),
    {
        "name": f"zz {EVIL}\u202egnp",
        "description": f"Opens a file. Never open {EVIL} unasked. Used by the shop.\n- \u200bhidden",
        "inputSchema": {
            "type": "object",
            "properties": {
                EVIL: {"type": "string", "description": EVIL, "enum": [EVIL, "b"]},
                "10": {"type": "number", "maximum": 9007199254740993, "multipleOf": 1.0},
                "9": {"type": "string", "description": 'Says "yes"\n\tor \\no. Only \u20ac 5.'},
            },
        },
    },
]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    driver.set_script_timeout(20)
    driver.get("about:blank")
    yield driver
    driver.quit()


class Page:
    """A page that is open in the browser."""

    def __init__(self, driver: WebDriver, path: Path) -> None:
        self.driver, self.path = driver, path

    def open(self, width: int = 1600, height: int = 1000, theme: str = "light") -> Page:
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        scheme = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
        self.driver.get("about:blank")
        self.logs("performance"), self.logs("browser")  # what was before
        self.driver.get(self.path.as_uri())
        return self.settled()

    def logs(self, kind: str) -> list[dict[str, Any]]:
        return self.driver.get_log(kind)  # type: ignore[no-any-return,no-untyped-call]

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str) -> Any:
        """The value of an expression, once it is true."""
        body = "const done = arguments[0]; const look = () => { const value = (%s); value ? done(value) : setTimeout(look, 5); }; look();"
        return self.driver.execute_async_script(body % script)

    def settled(self) -> Page:
        """With the chosen tool drawn."""
        self.wait("document.querySelector('#tool h3')?.textContent === inline(data.tools.name[state.tool])")
        return self

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)", selector
        )
        return found

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver, duration=0).send_keys(key).perform()

    def choose(self, place: int) -> None:
        """Press the button of a choice, and wait for its text of the chosen tool."""
        self.run("document.querySelector(`#choices button[data-choice='${arguments[0]}']`).click()", place)
        self.wait(
            "document.querySelectorAll('#tool .pane h4')[1]?.textContent.startsWith(`Sent as ${nameOf(data.choices[state.choice])},`)"
        )

    def pick(self, name: str) -> None:
        self.run("pick(rows.indexOf(data.tools.name.indexOf(arguments[0])))", name)
        self.settled()

    @property
    def focused(self) -> str:
        return str(
            self.run(
                "return document.activeElement.id || document.activeElement.name || document.activeElement.className"
            )
        )


@pytest.fixture(scope="session")
def mixed() -> PageData:
    catalog = Catalog.from_tools(MIXED)
    return page_data(catalog, tscg.compile(catalog), {})


@pytest.fixture(scope="session")
def mixed_file(mixed: PageData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(html(mixed), encoding="utf-8")
    return path


@pytest.fixture
def page(browser: WebDriver, mixed_file: Path) -> Page:
    return Page(browser, mixed_file).open()


# --- nothing leaves, nothing runs ------------------------------------------------------------------------------------


def test_no_request_leaves_and_nothing_is_refused(page: Page) -> None:
    for name in (MIXED[0]["name"], MIXED[-1]["name"]):
        page.pick(name)
    page.run("document.querySelectorAll('#around summary').forEach(one => one.click())")
    page.wait("[...document.querySelectorAll('#around pre')].every(one => one.textContent)")
    page.run("document.getElementById('search').value = 'shop'; search();")
    asked = [
        message["params"]["request"]["url"]
        for message in (json.loads(entry["message"])["message"] for entry in page.logs("performance"))
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("data:,")] == [page.path.as_uri()]
    assert page.logs("browser") == []  # a refused request or script would be an error here


def test_a_web_server_is_asked_for_the_page_alone(browser: WebDriver, mixed_file: Path) -> None:
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *values: object) -> None:
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(mixed_file.parent))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.get(f"http://127.0.0.1:{server.server_port}/{mixed_file.name}")
        Page(browser, mixed_file).settled()
        browser.get("about:blank")
        server.shutdown()
    assert asked == [f"/{mixed_file.name}"]


def test_texts_of_tools_are_shown_and_never_run(page: Page) -> None:
    elements = page.run("return document.getElementsByTagName('script').length")
    page.pick(MIXED[-1]["name"])
    for place in page.run(
        "return data.choices.map((one, place) => one.error ? -1 : place).filter(place => place >= 0)"
    ):
        page.choose(place)
    assert page.run("return window.hacked") is None
    assert page.run("return document.getElementsByTagName('img').length") == 0
    assert page.run("return document.getElementsByTagName('script').length") == elements
    title = page.text("#tool h3")
    assert EVIL in title
    assert title.endswith(r"\u{202e}gnp")
    assert r"\u{200b}hidden" in page.text("#tool pre")
    with pytest.raises(Exception, match="TrustedHTML"):
        page.run("document.body.innerHTML = '<b>x</b>'")


# --- what it shows ----------------------------------------------------------------------------------------------------


def test_the_head_names_figures_tokenizer_and_baseline(page: Page, mixed: PageData) -> None:
    stats = tscg.compile(MIXED).stats
    assert (
        page.text("#title") == f"9 tools: {stats.baseline_tokens:,} tokens as JSON, {stats.tokens:,} as text, balanced"
    )
    assert f"{stats.tokenizer}" in page.text("#counted")
    assert "minified JSON" in page.text("#counted")
    assert (
        page.text("#said") == f"text, balanced: {stats.tokens:,} tokens, {stats.saved:.1%} saved against minified JSON."
    )


def test_json_is_shown_as_it_is_written(page: Page) -> None:
    page.pick(MIXED[-1]["name"])
    shown = page.text("#tool pre").replace(r"\u{202e}", r"\u202e").replace(r"\u{200b}", r"\u200b")
    assert "9007199254740993" in shown
    assert '"multipleOf": 1.0' in shown
    tool = Catalog.from_tools(MIXED).by_name[MIXED[-1]["name"]]
    assert json.loads(shown)["function"] == {
        "name": tool.name, "description": tool.original_description, "parameters": tool.schema,
    }  # fmt: skip
    keys = list(json.loads(shown)["function"]["parameters"]["properties"])
    assert keys == [EVIL, "10", "9"]


@pytest.mark.parametrize("mode", ["text", "dispatch", "code"])
def test_the_text_beside_it_is_what_is_sent(page: Page, mixed: PageData, mode: str) -> None:
    name = MIXED[0]["name"]
    page.pick(name)
    choices: Any = mixed.figures["choices"]
    for place, choice in enumerate(choices):
        if choice["mode"] == mode and "error" not in choice:
            page.choose(place)
            shown = page.texts("#tool .pane .pane pre, #tool .panes > .pane:nth-child(2) > pre")[0]
            options = {"mode": tscg.Dispatch(map=choice["map"])} if choice["map"] else {"mode": mode}
            compiled = tscg.compile(MIXED, **options, profile=choice["profile"] or "balanced", budget=choice["budget"])
            assert shown == compiled.entries[name]


def test_policy_is_marked_and_what_is_left_out_is_struck(page: Page, mixed: PageData) -> None:
    page.pick(MIXED[-1]["name"])
    said = f"Never open {EVIL} unasked."
    assert said in page.texts("#tool mark")
    sent = "#tool .panes > .pane:nth-child(2) mark"
    assert said in page.texts(sent)
    assert page.texts("#tool pre del")[:2] == ["Used by the shop.", r"- \u{200b}hidden"]
    choices: Any = mixed.figures["choices"]
    (signature,) = [
        place for place, one in enumerate(choices) if (one["mode"], one["profile"], one["budget"]) == ("text", "signature", None)
    ]  # fmt: skip
    page.choose(signature)
    assert said in page.texts("#tool pre del")
    assert page.texts(sent) == []
    assert "left out." in page.text("#prose .bad")


# --- switches, keys ---------------------------------------------------------------------------------------------------


def test_mode_and_profile_switch_everything(page: Page) -> None:
    page.run("document.querySelector('#modes input[value=native]').click()")
    page.run("document.querySelector('#profiles input[value=brief]').click()")
    stats = tscg.compile(MIXED, mode="native", profile="brief").stats
    assert page.text("#said").startswith(f"native, brief: {stats.tokens:,} tokens")
    assert page.texts("#choices [aria-pressed=true]")[0].startswith("brief")
    page.run("document.querySelector('#modes input[value=dispatch]').click()")
    assert page.texts("#profiles legend") == ["Map"]
    assert page.text("#said").startswith("dispatch, hybrid")
    page.run("document.querySelector('#modes input[value=passthrough]').click()")
    assert page.run("return document.getElementById('profiles').offsetHeight") == 0


def test_arrow_keys_move_the_switches_and_the_budget(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.run("document.querySelector('#profiles input:checked').focus()")
    page.press(Keys.ARROW_RIGHT)
    assert page.text("#said").startswith("text, brief:")
    assert page.focused == "detail"
    page.run("document.getElementById('budget').focus()")
    page.press(Keys.ARROW_LEFT)
    budget = page.text("#budget-said")
    assert budget.endswith(" tokens")
    assert page.text("#said").startswith(f"text, balanced, budget {budget.removesuffix(' tokens')}:")
    assert page.run("return document.getElementById('budget').getAttribute('aria-valuetext')") == budget
    page.press(Keys.HOME)
    assert "name alone" in page.text("#prose")
    page.press(Keys.END)
    assert page.text("#budget-said") == "no budget"


def test_the_list_is_worked_with_keys(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.press("/")
    assert page.focused == "search"
    page.press("shop")
    page.wait("document.getElementById('found').textContent.includes(' of ')")
    page.wait("rows.length && rows.length < size")
    page.press(Keys.ESCAPE)
    assert page.text("#found") == "9 tools"
    page.press(Keys.ARROW_DOWN)
    assert page.focused == "list"
    page.press(Keys.END)
    page.settled()
    rows = page.run("return rows.map(tool => data.tools.name[tool])")
    assert page.run("return data.tools.name[state.tool]") == rows[-1]
    page.press(Keys.ARROW_UP, Keys.ARROW_UP, Keys.HOME, Keys.ARROW_DOWN)
    page.settled()
    assert page.run("return data.tools.name[state.tool]") == rows[1]
    active = page.run(
        "return document.getElementById(list.getAttribute('aria-activedescendant')).getAttribute('aria-posinset')"
    )
    assert active == "2"
    selected = page.run("return [...document.querySelectorAll('[role=option][aria-selected=true]')].map(one => one.id)")
    assert selected == [page.run("return list.getAttribute('aria-activedescendant')")]


def test_tab_goes_through_the_page_in_order_with_a_ring(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    met: list[str] = []
    for _ in range(6):
        page.press(Keys.TAB)
        met.append(page.focused)
        ring = page.run(
            "const one = document.activeElement; const shown = one.nextElementSibling && one.type === 'radio' ? one.nextElementSibling : one;"
            "const style = getComputedStyle(shown); return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1"
        )
        assert ring, met
    assert met[:5] == ["skip", "theme", "mode", "detail", "budget"]
    unnamed = page.run(
        "return [...document.querySelectorAll('input, select, button, [tabindex=\"0\"]')].filter(one =>"
        " !one.labels?.length && !one.textContent.trim() && !one.getAttribute('aria-label')).map(one => one.outerHTML)"
    )
    assert unnamed == []


def test_order_of_the_list(page: Page) -> None:
    for order, key in (("json", "data.tools.json[tool]"), ("sent", "data.choices[state.choice].sent[tool]")):
        page.run("at('order').value = arguments[0]; at('order').dispatchEvent(new Event('change'))", order)
        values = page.run(f"return rows.map(tool => {key})")
        assert values == sorted(values, reverse=True)


# --- sizes and colours ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_is_wider_than_the_screen(page: Page, width: int, height: int) -> None:
    page.open(width, height)
    page.pick(MIXED[-1]["name"])
    wide, seen = page.run("const all = document.documentElement; return [all.scrollWidth, all.clientWidth]")
    assert wide <= seen <= width
    wide = page.run(
        "return [...document.querySelectorAll('main *')].filter(one => !one.closest('.unseen, pre') &&"
        " one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 80))"
    )
    assert wide == []


def test_colours_follow_the_system_and_the_switch(page: Page) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    page.open(theme="dark")
    dark = page.run(ground)
    assert light != dark
    page.run("document.querySelector('#theme input[value=light]').click()")
    assert page.run(ground) == light
    page.run("document.querySelector('#theme input[value=\"\"]').click()")
    assert page.run(ground) == dark


# --- many tools -------------------------------------------------------------------------------------------------------


def repeated(data: PageData, times: int) -> PageData:
    """A page of as many tools as there are, so many times over."""

    def longer(value: Any) -> Any:
        """Columns of one value a tool, longer; all else as it is."""
        if isinstance(value, dict):
            return {key: longer(one) for key, one in value.items()}
        if isinstance(value, list) and len(value) == size and not isinstance(value[0], dict):
            return [f"{one} {place}" if isinstance(one, str) else one for place in range(times) for one in value]
        return [longer(one) for one in value] if isinstance(value, list) else value

    size = len(data.sources)
    choices: Any = data.figures["choices"]
    figures = {**data.figures, "choices": [choices[0], {**choices[1], "texts": False}]}
    texts: list[Any] = [{"0": held["0"]} for held in data.texts]
    return replace(data, figures=longer(figures), sources=data.sources * times, texts=texts * times)


def test_ten_thousand_tools_stay_usable(browser: WebDriver, mixed: PageData, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    path = tmp_path / "many.html"
    path.write_text(html(repeated(mixed, 1_112)), encoding="utf-8")
    page = Page(browser, path).open()
    assert page.text("#found") == "10,008 tools"
    assert page.run("return document.querySelectorAll('[role=option]').length") < 60
    page.run("list.focus()")
    page.press(Keys.END, Keys.PAGE_UP, Keys.ARROW_DOWN)
    page.settled()
    shown = page.run(
        "return document.getElementById(list.getAttribute('aria-activedescendant')).getBoundingClientRect().top"
    )
    box = page.run("const box = list.getBoundingClientRect(); return [box.top, box.bottom]")
    assert box[0] <= shown < box[1]
    page.run("list.scrollTop = 200000")
    page.wait("document.querySelectorAll('[role=option]')[0].getAttribute('aria-posinset') > 4000")
    assert page.run("return document.querySelectorAll('[role=option]').length") < 60
    page.run("choose(1)")
    page.wait("at('tool').textContent.includes('tscg compile FILE --mode text --profile')")
    page.run("at('search').focus()")
    page.press("unasked")
    page.wait("words && rows.length === 1112")
    assert page.text("#found") == "1,112 of 10,008 tools"
