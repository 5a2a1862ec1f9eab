"""The page in a real Chromium: it shows what the API says."""

import re
import signal
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect, sync_playwright

from clubcascade.service.demo import Audience
from clubcascade.service.keys import KeyFile
from tests.report.page.browser import chromium
from tests.service.web import bearer, serving
from tests.test_command import heed_interrupts


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A service that has seen an audience."""
    folder = tmp_path_factory.mktemp("busy")
    token = KeyFile(folder / "keys.json").add("admin")
    audience = Audience()
    with serving(folder, keys=True, n_features=8) as (client, service):
        client.headers.update(bearer(token))
        service.shop.register_items(audience.names, audience.features)
        for number in range(150):
            if number == 75:
                time.sleep(1.1)  # a line has two points, a point is a second
            body = {"user": audience.visit(), "k": 4}
            decision = client.post("/v1/default/recommend", json=body).json()
            click = audience.click(tuple(decision["items"]))
            if number % 10:
                body = {"decision_id": decision["decision_id"], "click": click}
                client.post("/v1/default/feedback", json=body)
        service.shop.digest()
        yield client, token


def fact(page, name):
    return page.locator(f'[data-fact="{name}"]').inner_text()


def test_the_page_shows_what_the_api_says(browser, busy):
    client, token = busy
    page = browser.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{client.base_url}/ui")
    page.get_by_text("the request has no key").wait_for()
    page.get_by_label("key").fill(token)
    page.get_by_label("key").press("Enter")
    page.locator('[data-fact="users"]').wait_for()
    info = client.get("/v1/models/default").json()
    groups = client.get("/v1/models/default/clusters").json()
    pulse = client.get("/v1/models/default/pulse").json()
    assert int(fact(page, "rounds learned")) == info["counters"]["learned"] == 135
    assert int(fact(page, "with a click")) == info["counters"]["clicks"] > 10
    assert int(fact(page, "users")) == info["users"]
    assert int(fact(page, "clusters")) == len(groups["sizes"])
    assert int(fact(page, "waiting")) == pulse["waiting"] == 15
    assert "applied" in page.locator("#outcomes").inner_text()
    best = groups["clusters"][0]
    assert best["taste"][0]["id"] in page.locator("#clusters").inner_text()
    page.locator("#rate polyline").first.wait_for(state="attached")
    page.get_by_placeholder("user id").fill(best["members"][0])
    page.get_by_role("button", name="show").click()
    page.locator("#card td").first.wait_for()
    card = client.get(f"/v1/models/default/users/{best['members'][0]}").json()
    text = page.locator("#card").inner_text()
    assert f"looked at {card['looked']} items" in text
    listed = [row.split("\t")[0] for row in text.splitlines() if "\t" in row][1:]
    assert listed == [item["id"] for item in card["next"]]
    assert errors == []
    assert all(url.startswith(str(client.base_url)) for url in asked)
    page.close()


def test_the_page_is_live_and_fits_a_phone(browser, busy):
    client, token = busy
    page = browser.new_page(viewport={"width": 360, "height": 700})
    page.goto(f"{client.base_url}/ui")
    page.get_by_label("key").fill(token)
    page.get_by_label("key").press("Enter")
    page.locator('[data-fact="waiting"]').wait_for()
    waiting = int(fact(page, "waiting"))
    client.post("/v1/default/recommend", json={"user": "one more", "k": 1})
    expect(page.locator('[data-fact="waiting"]')).to_have_text(str(waiting + 1))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()


def test_the_documentation_lists_every_address(browser, busy):
    client, _ = busy
    page = browser.new_page()
    page.goto(f"{client.base_url}/docs")
    page.locator("details").first.wait_for()
    text = page.locator("#paths").inner_text()
    for path in client.get("/openapi.json").json()["paths"]:
        assert path in text
    page.close()


def test_the_demo_comes_alive_and_stops_cleanly(browser):
    command = [sys.executable, "-m", "clubcascade", "demo", "--port", "0"]
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    try:
        url = re.search(r"http://\S+", child.stdout.readline())[0]
        page = browser.new_page()
        page.goto(url)
        learned = page.locator('[data-fact="rounds learned"]')
        expect(learned).to_have_text(re.compile(r"^[\d,]{3,}$"), timeout=60_000)  # 100 and more
        page.close()
        child.send_signal(signal.SIGINT)
        said, wrong = child.communicate(timeout=30)
        assert child.returncode == 0 and said.strip() == "stopped" and wrong == ""
    finally:
        child.kill()
        child.communicate()
