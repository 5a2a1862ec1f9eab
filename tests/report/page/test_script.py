"""The page in a browser: the numbers of the results, and what people do with them."""

from __future__ import annotations

import pytest
from playwright.sync_api import sync_playwright

from clubcascade.report.page import write_report
from tests.report import made
from tests.report.page.browser import MISSING, chromium

EVIL = "C3 <b>bold</b><script>window.broken = true</script>"
FINALS = {"CLUB": 120.0, EVIL: 400.0, "LinUCB": 9000.0}

HELPERS = """
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const plots = [...document.querySelectorAll('.plot')];
const lines = (plot) => plot.data.filter((trace) => trace.hovertemplate);
const bands = (plot) => plot.data.filter((trace) => trace.fill);
const hovered = () => [...plots[0].querySelectorAll('.hoverlayer .legend text')]
  .map((text) => text.textContent);
"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Two panels; in each, regret grows evenly to the final values, plus the seed."""
    place = tmp_path_factory.mktemp("results")
    made.LABELS[EVIL] = made.LABELS["C3"]
    try:
        plan = made.experiment(
            [made.world("(a) <b>near</b>"), made.world("(b)")], list(FINALS), seeds=3, rounds=100
        )
    finally:
        del made.LABELS[EVIL]

    def values(panel, label, seed, t):
        return {
            "regret": (FINALS[label] + seed) * t / 100,
            "reward": t / 2,
            "n_clusters": 1 + t // 50,
            "rand_index": t / 100,
            "ceiling": 0.8,
        }

    made.folder(place / "synthetic", plan, values)
    return write_report(place)


@pytest.fixture
def see(browser, page):
    """Open the page, wait until it is drawn, and return what a script returns; no error occurs."""
    opened, errors = [], []

    def look(script, **options):
        context = browser.new_context(**options)
        opened.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        tab.goto(page.resolve().as_uri())
        tab.wait_for_function(DRAWN)
        return tab.evaluate(f"async () => {{ {HELPERS} {script} }}")

    yield look
    for context in opened:
        context.close()
    assert errors == []


DRAWN = "[...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('.js-line'))"


def test_the_panels_are_drawn_with_every_policy(see):
    found = see(
        """
        return {
          titles: [...document.querySelectorAll('.panel figcaption')].map((c) => c.textContent),
          ends: plots.map((plot) => lines(plot).map((trace) => trace.y.at(-1))),
          paths: plots.map((plot) => plot.querySelectorAll('.js-line').length),
          bands: plots.map((plot) => bands(plot).map((trace) => trace.y[19] - trace.y[20])),
          dotted: plots.map((plot) => plot.data.filter((t) => t.line.dash === 'dot').length),
          names: lines(plots[0]).map((trace) => trace.name),
          over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        };
        """,
    )
    assert found["titles"] == ["(a) <b>near</b>", "(b)"]
    assert found["ends"] == [[121, 401, 9001]] * 2
    assert all(paths >= 4 for paths in found["paths"])
    assert found["bands"] == [pytest.approx([4.96] * 3)] * 2 and found["dotted"] == [1, 1]
    assert found["names"][0] == "CLUB" and "<" not in found["names"][1]
    assert found["over"] == 0


def test_the_values_of_all_policies_stand_under_the_pointer(see):
    found = see(
        """
        const area = plots[0].querySelector('.nsewdrag');
        const box = area.getBoundingClientRect();
        const at = { bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 40 };
        area.dispatchEvent(new MouseEvent('mousemove', at));
        await wait(300);
        return { texts: hovered(), broken: 'broken' in window,
                 bold: plots[0].querySelectorAll('.hoverlayer [style*=bold]').length };
        """,
    )
    assert found["texts"] == [
        "round 50",
        "CLUB : 60.5 ± 1.2",
        f"{EVIL} : 200.5 ± 1.2",
        "LinUCB : 4,500.5 ± 1.2",
    ]
    assert not found["broken"] and found["bold"] == 0


def test_arrow_keys_do_what_the_pointer_does(see):
    found = see(
        """
        const heads = [];
        for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'End', 'Escape']) {
          plots[0].dispatchEvent(new KeyboardEvent('keydown', { key }));
          await wait(300);
          heads.push(hovered()[0] || '');
        }
        return heads;
        """,
    )
    assert found == ["round 5", "round 10", "round 15", "round 100", ""]


def test_a_click_in_the_legend_hides_a_line_and_the_axis_follows(see):
    found = see(
        """
        const state = () => [lines(plots[0]).length, plots[0].layout.yaxis.range[1],
          plots[0].nextElementSibling.textContent, plots[0].layout.annotations.length];
        const [club, c3, lin] = document.querySelectorAll('.legend button');
        const states = [state()];
        lin.click(); states.push([...state(), lin.getAttribute('aria-pressed')]);
        c3.click(); states.push(state());
        lin.click(); c3.click(); states.push([...state(), lin.getAttribute('aria-pressed')]);
        document.querySelector('[data-switch=whole]').click(); states.push(state());
        club.click(); c3.click(); lin.click(); states.push(state());
        return states;
        """,
    )
    every, no_lin, club, again, whole, none = found
    assert every[0] == again[0] == whole[0] == 3
    assert 401 < every[1] < 600, "the line that dwarfs the others is cut off"
    assert every[2] == "↑ LinUCB: 9,001" and whole[2] == ""
    assert no_lin[0] == 2 and no_lin[4] == "false" and again[4] == "true"
    assert club[0] == 1 and 121 < club[1] < 150
    assert whole[1] > 9001
    assert none[0] == 0 and none[3] == 1, "a note says that there is nothing to show"


def test_other_measures_are_a_click_away(see):
    found = see(
        """
        const out = {};
        for (const button of document.querySelectorAll('.controls [data-measure]')) {
          button.click();
          const pressed = document.querySelector('.controls [data-measure][aria-pressed=true]');
          const title = plots[1].layout.yaxis.title.text;
          out[pressed.dataset.measure] = [lines(plots[1])[0].y.at(-1), title];
        }
        return out;
        """,
    )
    assert found == {
        "regret": [121, "cumulative regret"],
        "reward": [50, "cumulative clicks"],
        "ctr": [0.5, "clicks per round so far"],
        "missed": [30, "clicks missed"],
        "n_clusters": [3, "number of clusters"],
        "rand_index": [1, "adjusted Rand index"],
    }


def test_a_logarithmic_scale_shows_every_line(see):
    found = see(
        """
        document.querySelector('[data-switch=log]').click();
        return [plots[0].layout.yaxis.type, ...plots[0].layout.yaxis.range.map((v) => 10 ** v)];
        """,
    )
    kind, low, high = found
    assert kind == "log" and low < 6.05 and high > 9001


def test_a_phone_gets_one_column_and_no_sideways_scrolling(see):
    found = see(
        """
        const boxes = plots.map((plot) => plot.getBoundingClientRect());
        return {
          wide: document.documentElement.scrollWidth,
          lefts: boxes.map((box) => box.left),
          inside: boxes.every((box) => box.right <= innerWidth),
          drawn: plots.map((plot) => plot.querySelector('svg').getBoundingClientRect().width),
          width: innerWidth,
        };
        """,
        viewport={"width": 390, "height": 844},
    )
    assert found["width"] == 390
    assert found["wide"] <= found["width"]
    assert len(set(found["lefts"])) == 1 and found["inside"]
    assert all(300 < width <= 390 for width in found["drawn"])


def test_dark_and_light_are_both_there(see):
    found = see(
        """
        const colour = () => [getComputedStyle(document.body).backgroundColor,
          lines(plots[0])[0].line.color, plots[0].layout.plot_bgcolor,
          getComputedStyle(document.querySelector('.legend line')).stroke];
        const button = document.getElementById('theme');
        const first = colour(); button.click();
        const second = colour(); button.click();
        return [first, second, colour()];
        """,
    )
    light, dark, again = found
    assert light == again == ["rgb(255, 255, 255)", "#D55E00", "#ffffff", "rgb(213, 94, 0)"]
    assert dark == ["rgb(20, 23, 28)", "#FF7F2A", "#14171c", "rgb(255, 127, 42)"]


def test_the_theme_of_the_system_is_followed(see):
    found = see("return lines(plots[0])[0].line.color;", color_scheme="dark")
    assert found == "#FF7F2A"


def test_titles_with_markup_stay_text_and_nothing_is_loaded(see):
    found = see(
        """
        return {
          bold: document.querySelectorAll('figcaption b, .legend b, .finals b').length,
          loaded: performance.getEntriesByType('resource').length,
          links: [...document.querySelectorAll('[src], link')].length,
          broken: 'broken' in window,
        };
        """,
    )
    assert found == {"bold": 0, "loaded": 0, "links": 0, "broken": False}


def test_without_a_browser_the_message_says_what_to_install(monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        chromium()
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    with pytest.raises(pytest.fail.Exception) as failed:
        chromium()
    assert MISSING in str(failed.value) and "no-such-browser" in str(failed.value)
