"""The page in a browser: the numbers of the results, and what people do with them."""

from __future__ import annotations

import pytest

from clubcascade.report.page.whole import write_report
from tests.report import made
from tests.report.page.browser import MISSING, ask, chromium

POLICIES = ["CLUB", "C3", "LinUCB"]
FINALS = {"CLUB": 120.0, "C3": 400.0, "LinUCB": 9000.0}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Two panels; in each, regret grows evenly to the final values, plus the seed."""
    place = tmp_path_factory.mktemp("results")
    plan = made.experiment(
        [made.world("(a) <b>near</b>"), made.world("(b)")], POLICIES, seeds=3, rounds=100
    )

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


def test_the_panels_are_drawn_with_every_policy(page):
    found = ask(
        page,
        """
        const panels = [...document.querySelectorAll('.panel')];
        answer({
          titles: panels.map((p) => p.querySelector('figcaption').textContent),
          lines: panels.map((p) => [...p.querySelectorAll('.line')].map((l) => l.dataset.label)),
          bands: panels.map((p) => p.querySelectorAll('.band').length),
          truth: panels.map((p) => p.querySelectorAll('.truth').length),
          names: [...panels[0].querySelectorAll('.name title')].map((t) => t.textContent),
          over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        });
        """,
    )
    assert found["titles"] == ["(a) <b>near</b>", "(b)"]
    assert found["lines"] == [POLICIES, POLICIES]
    assert found["bands"] == [3, 3] and found["truth"] == [1, 1]
    assert found["names"] == ["CLUB: 121", "C3: 401", "LinUCB: 9,001"]
    assert found["over"] == 0


POINT = """
const figure = document.querySelector('.panel');
const picture = figure.querySelector('svg');
const line = picture.querySelector('.axis');
const frame = picture.getBoundingClientRect();
const scale = frame.width / picture.viewBox.baseVal.width;
const [x1, x2] = ['x1', 'x2'].map((end) => Number(line.getAttribute(end)));
const at = { clientX: frame.left + scale * (x1 + 0.5 * (x2 - x1)), clientY: frame.top + 40 };
"""


def test_the_values_of_all_policies_stand_under_the_pointer(page):
    found = ask(
        page,
        POINT
        + """
        picture.dispatchEvent(new PointerEvent('pointermove', at));
        const tip = figure.querySelector('.tip');
        const rows = [...tip.querySelectorAll('div')].map((row) => row.textContent);
        const cross = picture.querySelectorAll('.cross').length;
        const box = tip.getBoundingClientRect();
        const inside = box.left >= frame.left - 1 && box.right <= frame.right + 1;
        const head = tip.querySelector('b').textContent;
        picture.dispatchEvent(new PointerEvent('pointerleave'));
        answer({ head, rows, cross, inside, left: document.querySelectorAll('.tip').length });
        """,
    )
    assert found["head"] == "round 50"
    assert found["rows"] == ["LinUCB4,501 ± 1.2", "C3201 ± 1.2", "CLUB60.5 ± 1.2"]
    assert found["cross"] == 1 and found["inside"] and found["left"] == 0


def test_arrow_keys_do_what_the_pointer_does(page):
    found = ask(
        page,
        POINT
        + """
        const heads = [];
        for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'End']) {
          picture.dispatchEvent(new KeyboardEvent('keydown', { key }));
          heads.push(figure.querySelector('.tip b').textContent);
        }
        picture.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
        answer({ heads, tips: document.querySelectorAll('.tip').length });
        """,
    )
    assert found == {"heads": ["round 5", "round 10", "round 15", "round 100"], "tips": 0}


def test_a_click_in_the_legend_hides_a_line_and_the_axis_follows(page):
    found = ask(
        page,
        """
        const labels = () => [...document.querySelector('.panel').querySelectorAll('.line')]
          .map((line) => line.dataset.label);
        const number = (text) => Number(text.textContent.replace(',', ''));
        const top_ = () => Math.max(...[...document.querySelector('.panel')
          .querySelectorAll('text[text-anchor=end]')].map(number));
        const [club, c3, lin] = document.querySelectorAll('.legend button');
        const states = [[labels(), top_()]];
        lin.click(); states.push([labels(), top_(), lin.getAttribute('aria-pressed')]);
        c3.click(); states.push([labels(), top_()]);
        lin.click(); c3.click(); states.push([labels(), top_(), lin.getAttribute('aria-pressed')]);
        [...document.querySelectorAll('.controls button')]
          .find((button) => button.textContent === 'whole scale').click();
        states.push([labels(), top_()]);
        club.click(); c3.click(); lin.click();
        states.push(document.querySelector('.panel svg').textContent);
        answer(states);
        """,
    )
    every, no_lin, club, again, whole, none = found
    assert every[0] == again[0] == whole[0] == POLICIES
    assert 400 <= every[1] < 600, "the line that dwarfs the others is cut off"
    assert no_lin[0] == ["CLUB", "C3"] and no_lin[2] == "false" and again[2] == "true"
    assert club[0] == ["CLUB"] and club[1] < 150
    assert whole[1] > 5000
    assert none == "nothing to show"


def test_other_measures_are_a_click_away(page):
    found = ask(
        page,
        """
        const out = {};
        for (const button of document.querySelectorAll('.controls [data-measure]')) {
          button.click();
          const title = document.querySelector('.panel .name title').textContent;
          out[button.dataset.measure] = [document.querySelector('.figure').dataset.measure, title];
        }
        answer(out);
        """,
    )
    assert {name: title for name, (_, title) in found.items()} == {
        "regret": "CLUB: 121",
        "reward": "CLUB: 50",
        "ctr": "CLUB: 0.500",
        "missed": "CLUB: 30",
        "n_clusters": "CLUB: 3",
        "rand_index": "CLUB: 1.000",
    }
    assert all(name == shown for name, (shown, _) in found.items())


def test_a_phone_gets_one_column_and_no_sideways_scrolling(page):
    found = ask(
        page,
        """
        const panels = [...document.querySelectorAll('.panel')];
        const boxes = panels.map((panel) => panel.getBoundingClientRect());
        answer({
          wide: document.documentElement.scrollWidth,
          lefts: boxes.map((box) => box.left),
          inside: boxes.every((box) => box.right <= innerWidth),
          shown: [...panels[0].querySelectorAll('.name')].map((n) => n.firstChild.textContent),
          width: innerWidth,
        });
        """,
        width=390,
    )
    assert found["width"] == 390
    assert found["wide"] <= found["width"]
    assert len(set(found["lefts"])) == 1 and found["inside"]
    assert found["shown"] == ["121", "401", "↑9,001"]


def test_dark_and_light_are_both_there(page):
    found = ask(
        page,
        """
        const colour = () => [getComputedStyle(document.body).backgroundColor,
          getComputedStyle(document.querySelector('.line')).stroke];
        const button = document.getElementById('theme');
        const first = colour(); button.click();
        const second = colour(); button.click();
        answer([first, second, colour()]);
        """,
    )
    light, dark, again = found
    assert light == again == ["rgb(255, 255, 255)", "rgb(213, 94, 0)"]
    assert dark == ["rgb(20, 23, 28)", "rgb(255, 127, 42)"]


def test_titles_with_markup_stay_text_and_nothing_is_loaded(page):
    found = ask(
        page,
        """
        answer({
          bold: document.querySelectorAll('figcaption b').length,
          loaded: performance.getEntriesByType('resource').length,
          links: [...document.querySelectorAll('[src], link')].length,
        });
        """,
    )
    assert found == {"bold": 0, "loaded": 0, "links": 0}


def test_without_a_browser_the_message_says_what_to_install(monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        chromium()
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    with pytest.raises(pytest.fail.Exception) as failed:
        chromium()
    assert MISSING in str(failed.value) and "no-such-browser" in str(failed.value)
