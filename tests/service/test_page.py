"""The page in a real Chromium: it shows what the API says."""

import re
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
from playwright.sync_api import expect, sync_playwright

from clubcascade.service.demo import EXPERIMENT, N_FEATURES, Audience
from clubcascade.service.demo import stock as stock_demo
from clubcascade.service.keys import KeyFile
from tests.report.page.browser import chromium
from tests.service.web import bearer, serving, stock
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
    with serving(folder, keys=True, n_features=N_FEATURES) as (client, service):
        client.headers.update(bearer(token))
        about = audience.about
        service.shop.register_items(audience.names, audience.features, metadata=about)
        for number in range(150):
            if number == 75:
                time.sleep(1.1)  # a line has two points, a point is a second
            listener = audience.visit()
            body = {"user": listener, "k": 4}
            decision = client.post("/v1/default/recommend", json=body).json()
            click = audience.click(listener, tuple(decision["items"]))
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
    assert "put a key into the field above" in page.locator("#say").inner_text()
    page.get_by_label("key").fill(token)
    page.get_by_label("key").press("Enter")
    page.locator('[data-fact="users"]').wait_for()
    info = client.get("/v1/models/default").json()
    groups = client.get("/v1/models/default/clusters").json()
    pulse = client.get("/v1/models/default/activity").json()
    assert int(fact(page, "rounds learned")) == info["counters"]["learned"] == 135
    assert int(fact(page, "with a click")) == info["counters"]["clicks"] > 2
    assert int(fact(page, "users")) == info["users"]
    assert int(fact(page, "clusters")) == len(groups["sizes"])
    assert int(fact(page, "waiting")) == pulse["waiting"] == 15
    assert "applied" in page.locator("#outcomes").inner_text()
    best = groups["clusters"][0]
    assert best["taste"][0]["title"] in page.locator("#clusters").inner_text()
    page.locator("#rate polyline").first.wait_for(state="attached")
    page.locator("#clusters").get_by_role("button", name=best["members"][0], exact=True).click()
    page.locator("#card td").first.wait_for()
    card = client.get(f"/v1/models/default/users/{best['members'][0]}").json()
    text = page.locator("#card").inner_text()
    assert f"looked at {card['looked']} items" in text
    listed = [row.split("\t")[0] for row in text.splitlines() if "\t" in row][1:]
    assert listed == [item["title"] for item in card["next"]]
    assert errors == []
    assert all(url.startswith(str(client.base_url)) for url in asked)
    page.close()


def signed_in(browser, client, token, **options):
    page = browser.new_page(**options)
    page.goto(f"{client.base_url}/ui")
    page.get_by_label("key").fill(token)
    page.get_by_label("key").press("Enter")
    page.locator('[data-fact="waiting"]').wait_for()
    return page


def test_users_and_items_are_searched_and_paged(browser, busy):
    client, token = busy
    page = signed_in(browser, client, token)
    items = page.locator("#items")
    expect(items).to_contain_text("1 to 10 of 200")
    items.get_by_title("after").click()
    expect(items).to_contain_text("11 to 20 of 200")
    items.get_by_label("search items").fill("OPERA")
    expect(items).to_contain_text("1 to 10 of 25")
    assert "genre: opera" in items.inner_text() and "jazz" not in items.inner_text()
    items.get_by_label("search items").fill("silver r")
    expect(items).to_contain_text("1 to 3 of 3")
    assert "Silver Rain" in items.inner_text() and "Silver River" in items.inner_text()
    users = page.locator("#users")
    users.get_by_label("search users").fill("listener 2")
    expect(users.locator("tr").nth(1)).to_contain_text("listener 2")
    name = users.get_by_role("button", name=re.compile("listener")).last.inner_text().strip()
    users.get_by_role("button", name=name, exact=True).click()
    expect(page.locator("#card")).to_contain_text(f"{name}: looked at")
    users.get_by_label("search users").fill("nobody")
    expect(users).to_contain_text("none")
    page.close()


def test_charts_have_times_and_say_what_is_under_the_pointer(browser, busy):
    client, token = busy
    page = signed_in(browser, client, token)
    page.locator("#rate polyline").first.wait_for(state="attached")
    times = [text for text in page.locator("#rate text").all_text_contents() if ":" in text]
    assert times and all(re.fullmatch(r"\d\d:\d\d:\d\d", text) for text in times)
    page.locator("#rate").hover()
    expect(page.locator("#tip")).to_have_text(re.compile(r"default: [\d.]+% of the lists clicked"))
    page.locator("h1").hover()
    expect(page.locator("#tip")).to_be_hidden()
    page.close()


def test_another_model_is_drawn_beside_the_popular_one_by_itself(browser, busy):
    client, token = busy
    assert client.put("/v1/models/popular", json={"policy": "popular"}).status_code == 201
    try:
        rows = [{"id": name, "features": [0.5]} for name in ("tea", "jam")]
        client.put("/v1/popular/items", json={"items": rows})
        for number in range(30):
            body = {"user": f"u{number}", "k": 1}
            decision = client.post("/v1/popular/recommend", json=body).json()
            body = {"decision_id": decision["decision_id"], "click": None if number % 3 else 0}
            assert client.post("/v1/popular/feedback", json=body).json()["outcome"] == "applied"
        page = signed_in(browser, client, token)
        expect(page.get_by_label("beside")).to_have_value("popular")
        expect(page.locator("#lines")).to_contain_text("model popular: 33%")
        page.get_by_label("beside").select_option("none")
        expect(page.locator("#lines")).not_to_contain_text("popular")
        page.close()
    finally:
        client.delete("/v1/models/popular")


def test_an_experiment_is_shown_with_its_verdict_and_its_band(browser, tmp_path):
    with serving(tmp_path, n_features=N_FEATURES) as (client, service):
        stock_demo(service.shop, Audience())
        ask = partial(service.shop.recommend, k=4, model=EXPERIMENT)
        pieces = [(ask(f"listener {n % 700}").id, [0, None][n % 2]) for n in range(1_401)]
        service.shop.feedback_many(pieces)
        for number in range(90):  # what the page counts comes over HTTP
            body = {"user": f"listener {number}", "k": 4}
            decision = client.post(f"/v1/{EXPERIMENT}/recommend", json=body).json()
            body = {"decision_id": decision["decision_id"], "click": 0}
            client.post(f"/v1/{EXPERIMENT}/feedback", json=body)
        told = client.get(f"/v1/experiments/{EXPERIMENT}").json()
        page = browser.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{client.base_url}/ui")
        shown = page.locator("#experiment")
        expect(shown).to_contain_text(f"Experiment {EXPERIMENT}")
        expect(shown).to_contain_text(told["verdicts"][0]["sentence"])
        expect(shown.locator("polygon")).to_have_count(1)
        shown.locator(".chart").hover()
        expect(page.locator("#tip")).to_have_text(re.compile(r"after [\d,]+ lists-?\d"))
        expect(page.locator("#lines")).to_contain_text("model default:")
        expect(page.locator("#lines")).to_contain_text("model popular:")
        table = shown.locator("table")
        expect(table).to_contain_text("learned (model default)")
        expect(table).not_to_contain_text("lists that explore")
        page.set_viewport_size({"width": 360, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.close()
        service.shop.delete_experiment(EXPERIMENT)
        page = browser.new_page()
        page.goto(f"{client.base_url}/ui")
        expect(page.locator("#experiment")).to_contain_text("It has ended.")
        expect(page.locator("#experiment")).to_contain_text(told["verdicts"][0]["sentence"])
        page.close()
        arms = {"all": ("default", 1), "few": ("default", 1, 0.2)}
        service.shop.create_experiment("calm", arms)
        pieces = [(service.shop.recommend(n, 4, model="calm").id, 0) for n in range(60)]
        service.shop.feedback_many(pieces)
        page = browser.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{client.base_url}/ui")
        expect(page.locator("#experiment table")).to_contain_text("lists that explore")
        expect(page.locator("#experiment")).to_contain_text("60 users and 60 lists so far")
        assert errors == []
        page.close()


def test_an_empty_model_says_what_to_do_next(browser, tmp_path):
    with serving(tmp_path) as (client, _):
        page = browser.new_page()
        page.goto(f"{client.base_url}/ui")
        steps = page.locator("#steps")
        expect(steps).to_contain_text("1. Register items, vectors of 3 numbers")
        expect(page.locator("#about")).to_contain_text("policy cohort_cascade")
        expect(page.locator("#about")).to_contain_text("0 items of 3 features")
        stock(client)
        expect(steps).to_contain_text("✓ Register items")
        decision = client.post("/v1/default/recommend", json={"user": "alice", "k": 1}).json()
        expect(steps).to_contain_text("✓ Ask for a list")
        sent = {"decision_id": decision["decision_id"], "click": 0}
        client.post("/v1/default/feedback", json=sent)
        expect(steps).to_be_hidden()
        page.close()


def test_the_page_is_live_and_fits_a_phone(browser, busy):
    client, token = busy
    page = signed_in(browser, client, token, viewport={"width": 360, "height": 700})
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
