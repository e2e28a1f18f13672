"""The page in a real Chromium: rows come in order, all can be reached, nothing executes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import transducer
from graphconv.graph import Graph, Node
from transducer.serving.settings import Settings

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
REQUIRED = bool(os.environ.get("ARBORA_BROWSER"))  # `nox -s browser` insists

if not REQUIRED:
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    pytest.importorskip("playwright", reason="`nox -s browser` has playwright")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the path", allow_module_level=True)

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright  # noqa: E402
from server_for_tests import Client  # noqa: E402

Memorized = Callable[[str], tuple[Path, Path]]
TEXT = "The boy wants to go."
MARKUP = "\"><img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"


@pytest.fixture(scope="module")
def server(memorized: Memorized) -> Iterator[str]:
    nlp = transducer.load(*(memorized(task)[1] for task in ("amr", "dm", "ucca")))
    client = Client(nlp, Settings())
    yield f"http://127.0.0.1:{client.port}/"
    client.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Containers have no sandbox of their own kind; the pages here are ours.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(accept_downloads=True)
    context.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"a dialog: {dialog.message}"))
    yield page
    context.close()
    assert not errors


def parse(page: Page, server: str, text: str = TEXT) -> None:
    page.goto(server)
    expect(page.locator("input[name=task]")).to_have_count(3)
    page.fill("#text", text)
    page.press("#text", "Enter")
    expect(page.locator("#status")).to_contain_text("Done")


def count(page: Page) -> int:
    return int(page.locator(".rows li:visible").count())


def test_rows_arrive_in_order_and_one_steps_back_and_forth(page: Page, server: str) -> None:
    parse(page, server)
    places = page.locator(".rows li").evaluate_all("rows => rows.map(row => row.dataset.place)")
    assert list(map(int, places)) == list(range(1, len(places) + 1))
    for task in ("amr", "dm", "ucca"):
        rows = page.locator(f".panel[data-task={task}] .rows li")
        numbers = rows.evaluate_all("rows => rows.map(row => row.dataset.row)")
        assert list(map(int, numbers)) == list(range(1, len(numbers) + 1))
    assert all(re.search(r"\d %", text) for text in page.locator(".rows .p").all_inner_texts())
    assert any("or" in text for text in page.locator(".rows .second").all_inner_texts())
    total = len(places)
    assert count(page) == total
    page.locator("#parse").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#place")).to_have_text(f"{total - 2} of {total}")
    assert count(page) == total - 2
    ucca = page.locator(".panel[data-task=ucca]")
    expect(ucca.locator(".growing svg")).to_be_visible()
    expect(ucca.locator(".final svg")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    page.locator("#forth").click()
    assert count(page) == total
    expect(ucca.locator(".final svg")).to_be_visible()
    page.locator("#step").fill("1")
    assert count(page) == 1
    amr = page.locator(".panel[data-task=amr]")
    expect(amr.locator(".growing [data-node]")).to_have_count(1)
    page.locator("#step").fill("0")
    assert count(page) == 0


def test_a_word_lights_its_nodes_in_every_framework_and_back(page: Page, server: str) -> None:
    parse(page, server)
    word = page.locator("#words button", has_text="boy")
    word.hover()
    for task in ("dm", "ucca"):
        lit = page.locator(f".panel[data-task={task}] .final .lit")
        assert "boy" in " ".join(lit.all_text_contents())
    page.mouse.move(0, 0)
    expect(page.locator(".lit")).to_have_count(0)
    page.locator(".panel[data-task=dm] .final [data-at]", has_text="boy").hover()
    expect(word).to_have_class(re.compile("lit"))
    page.mouse.move(0, 0)
    page.locator("#words button").first.focus()
    page.keyboard.press("ArrowRight")
    expect(word).to_be_focused()
    expect(word).to_have_class(re.compile("lit"))


def test_every_sentence_has_a_picture(page: Page, server: str) -> None:
    parse(page, server, f"{TEXT} {TEXT}")
    for task, number in (("amr", 2), ("dm", 2), ("ucca", 1)):
        expect(page.locator(f".panel[data-task={task}] .final svg")).to_have_count(number)


def test_a_gold_graph_is_scored_and_drawn(page: Page, server: str) -> None:
    parse(page, server)
    page.fill("#gold", "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))")
    page.click("#score")
    expect(page.locator("#scores .proved")).to_contain_text("Certified")
    expect(page.locator("#scores pre")).to_contain_text("smatch")
    expect(page.locator("#scores svg")).to_have_count(2)
    expect(page.locator("#scores details")).to_have_count(3)
    page.fill("#gold", "(w / want-01")
    page.click("#score")
    expect(page.locator("#status.error")).to_contain_text("bracket")
    expect(page.locator("#scores .error")).to_contain_text("bracket")


def test_an_error_stands_alone_and_pictures_lie_on_the_color_of_their_card(
    browser: Browser, server: str
) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    parse(page, server)
    panel = page.locator(".panel[data-task=dm]")
    card = panel.evaluate("element => getComputedStyle(element).backgroundColor")
    patches = panel.locator(".final .bg")
    assert {card} == set(
        patches.evaluate_all("some => some.map(one => getComputedStyle(one).fill)")
    )
    page.fill("#text", "word " * 5000)
    page.press("#text", "Enter")
    expect(page.locator("#status.error")).to_contain_text("20,000 is the most")
    expect(page.locator("#result")).to_be_hidden()
    context.close()


def test_hypotheses_stand_side_by_side(page: Page, server: str) -> None:
    parse(page, server)
    page.locator(".panel[data-task=dm] .more").click()
    figures = page.locator(".panel[data-task=dm] .hypotheses figure")
    expect(figures.nth(1)).to_be_visible()
    scores = [float(re.findall(r"-?\d+\.\d\d", text)[0]) for text in figures.all_inner_texts()]
    assert scores == sorted(scores, reverse=True)


def test_downloads(page: Page, server: str) -> None:
    parse(page, server)
    dm = page.locator(".panel[data-task=dm]")

    def downloaded(name: str) -> bytes:
        with page.expect_download() as found:
            dm.get_by_label(f"Download {name}").click()
        assert found.value.suggested_filename == name
        return Path(found.value.path()).read_bytes()

    assert downloaded("dm.svg").startswith(b"<svg")
    assert downloaded("dm.png").startswith(b"\x89PNG")
    assert downloaded("dm.sdp").startswith(b"#SDP")
    dm.get_by_role("tab", name="MRP").click()
    assert json.loads(downloaded("dm.mrp").splitlines()[0])["framework"] == "dm"


def test_a_link_is_shared(page: Page, server: str) -> None:
    text = "The boy wants 100 % of “it” & more #1."
    parse(page, server, text)
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#text")).to_have_value(text)
    expect(page.locator("#status")).to_contain_text("Done")


def test_examples(page: Page, server: str) -> None:
    page.goto(server)
    expect(page.locator("input[name=task]")).to_have_count(3)
    page.locator("#examples button").nth(1).click()
    expect(page.locator("#status")).to_contain_text("Done")
    expect(page.locator("#text")).to_have_value("Where did you put my keys?")


def test_right_to_left(page: Page, server: str) -> None:
    parse(page, server, "الولد يريد أن يذهب")
    assert page.locator("#words").evaluate("e => getComputedStyle(e).direction") == "rtl"
    first, second = page.locator("#words button").first, page.locator("#words button").nth(1)
    left, right = second.bounding_box(), first.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] < right["x"]


def assert_nothing_executed(page: Page) -> None:
    assert page.evaluate("() => window.hacked === undefined")
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("script").count() == 1


def test_markup_is_text(page: Page, server: str) -> None:
    parse(page, server, f"The boy {MARKUP} wants to go.")
    page.fill("#gold", f'(w / want-01 :ARG0 (b / boy :name (n / name :op1 "{MARKUP[2:]}")))')
    page.click("#score")
    expect(page.locator("#scores svg")).to_have_count(2)
    assert_nothing_executed(page)


def test_markup_in_every_field_of_an_answer_is_text(page: Page, server: str) -> None:
    relation = {
        "task": "amr", "sentence": 0, "row": 1, "head": 0, "source": MARKUP, "source_index": 0,
        "relation": MARKUP, "target": MARKUP, "index": 1, "position": None, "probability": 0.4,
        "runners_up": [
            {"part": part, "source": MARKUP, "relation": MARKUP, "target": MARKUP,
             "probability": 0.3} for part in ("node", "source", "relation")
        ],
    }  # fmt: skip
    graph = Graph("1", "amr", nodes=(Node("x", MARKUP),), tops=("x",))
    answer: dict[str, Any] = {
        "graphs": {"amr": [graph.to_dict()]},
        "formats": {"amr": {"amr": MARKUP, "mrp": transducer_mrp(graph)}},
        "sentences": [{"first": 0, "last": 1, "text": MARKUP, "paragraph": 0}],
        "problems": [{"task": "dm", "reason": MARKUP}],
    }
    tokens = {"tokens": [{"form": MARKUP, "start": 0, "end": 9}], "sentences": {"amr": [[0, 1]]}}
    parts = (("tokens", tokens), ("relation", relation), ("graph", answer))
    stream = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in parts)

    def crafted(route: Route) -> None:
        route.fulfill(body=stream, content_type="text/event-stream")

    page.goto(server)
    expect(page.locator("input[name=task]")).to_have_count(3)
    page.route("**/v1/stream", crafted)
    page.fill("#text", MARKUP)
    page.press("#text", "Enter")
    expect(page.locator("#status.error")).to_contain_text("onerror")
    expect(page.locator(".final svg")).to_contain_text("onerror")
    expect(page.locator("#words button")).to_have_text(MARKUP)
    assert_nothing_executed(page)


def transducer_mrp(graph: Graph) -> str:
    from graphconv import dumps

    return dumps([graph], format="mrp")


def test_the_server_stops_in_the_middle(page: Page, memorized: Memorized) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ("-m", "transducer", "serve", "--model", str(memorized("dm")[1]), "--port", str(port))
    process = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        page.goto(f"http://127.0.0.1:{port}/")
        expect(page.locator("input[name=task]")).to_have_count(1)
        page.fill("#text", " ".join([TEXT] * 400))
        page.press("#text", "Enter")
        expect(page.locator(".rows li").nth(5)).to_be_attached()
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        expect(page.locator("#status.error")).to_contain_text("connection to the server was lost")
        assert page.locator(".rows li").count() > 5  # what was there stays
        page.click("#parse")
        expect(page.locator("#status.error")).to_contain_text("does not answer")
    finally:
        process.kill()
        process.wait(30)


def wait_for(port: int) -> None:
    for _ in range(1200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the server does not start")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, server: str, scheme: Any) -> None:
    context = browser.new_context(color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(server)
    expect(page.locator("input[name=task]")).to_have_count(3)
    assert serious(page) == []
    page.fill("#text", TEXT)
    page.press("#text", "Enter")
    expect(page.locator("#status")).to_contain_text("Done")
    page.fill("#gold", "(w / want-01 :ARG0 (b / boy))")
    page.click("#score")
    expect(page.locator("#scores svg")).to_have_count(2)
    assert serious(page) == []
    context.close()


def serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_a_phone_needs_no_sideways_scrolling(browser: Browser, server: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, is_mobile=True)
    page = context.new_page()
    parse(page, server, " ".join([TEXT] * 3))
    wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    context.close()
    assert wide <= 0
