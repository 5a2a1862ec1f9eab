// Hands the numbers of the page to Plotly: which measure, lines, scale and theme.
"use strict";
(() => {
const DATA = JSON.parse(document.getElementById("data").textContent);
const MOST_BANDS = 12; // of more policies, only lines: hide some to see bands
const DWARFED = 5; // a line that ends this many times above all lines below it is cut off
const CONFIG = { responsive: true, displayModeBar: false };
const TOUCH = matchMedia("(pointer: coarse)").matches; // a finger scrolls the page
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const drawn = new Set(); // functions that draw the panels which were seen
let printing = false;

const isDark = () => !printing && (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const PRINTED = { "--paper": "#ffffff", "--rule": "#d8dee4" };
const colour = (name) => (printing ? PRINTED[name] || "#1f2328" : getComputedStyle(root).getPropertyValue(name).trim());
const redraw = () => drawn.forEach((draw) => draw());

function curvesOf(run, panel, state) {
  return panel.curves[state.measure].flatMap((curve, i) => {
    if (!curve || state.hidden.has(i)) return [];
    const x = run.grids[curve[0]];
    const all = (values) => (values.length === 1 ? x.map(() => values[0]) : values);
    return [{ x, y: all(curve[1]), half: all(curve[2]), policy: run.policies[i] }];
  });
}

function cutAt(curves) {
  const ends = curves.map((curve) => curve.y.at(-1)).sort((a, b) => a - b);
  const last = ends.findIndex((v, i) => 2 * (i + 1) >= ends.length && v > 0 && ends[i + 1] > DWARFED * v);
  return last < 0 ? null : 1.2 * ends[last];
}

const endOf = (curves) => Math.max(...curves.map((curve) => curve.x.at(-1)));

function limits(curves, reference, cut, state) {
  const all = curves.flatMap((curve) => curve.y).filter((v) => v !== null && (v > 0 || !state.log));
  if (!all.length) return [0, 1];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (state.log) return [Math.log10(low / 1.2), Math.log10(high * 1.2)];
  if (state.measure === "rand_index") return [Math.min(-0.05, low), 1.05];
  const line = reference ? reference[1] + reference[2] * endOf(curves) : 0;
  const top = cut || 1.08 * Math.max(high, line) || 1;
  return [Math.min(-0.02 * top, low), top];
}

function traces(curves, reference, state) {
  const { format } = DATA.measures[state.measure];
  const tone = Number(isDark());
  const lines = curves.map(({ x, y, half, policy }) => ({
    x, y, customdata: half, name: policy.name, mode: "lines+markers",
    line: { color: policy.colours[tone], width: policy.width, dash: policy.dash },
    marker: { symbol: policy.symbol, size: 7, maxdisplayed: 8 },
    hovertemplate: `%{y:${format}}${half.length ? ` ± %{customdata:${format}}` : ""}`,
  }));
  const banded = curves.length <= MOST_BANDS ? curves.filter((curve) => curve.half.length) : [];
  const bands = banded.map(({ x, y, half, policy }) => {
    const low = y.map((v, i) => (state.log && v <= half[i] ? v : v - half[i]));
    return {
      x: [...x, ...[...x].reverse()], y: [...y.map((v, i) => v + half[i]), ...low.reverse()],
      name: policy.name, mode: "lines", line: { width: 0 }, hoverinfo: "skip",
      fill: "toself", fillcolor: `${policy.colours[tone]}2b`,
    };
  });
  const line = reference && {
    x: [0, endOf(curves)], y: [reference[1], reference[1] + reference[2] * endOf(curves)], name: reference[0],
    mode: "lines", line: { color: colour("--ink"), width: 1.3, dash: "dot" }, hoverinfo: "skip",
  };
  return [...bands, ...(line ? [line] : []), ...lines];
}

function layoutOf(curves, reference, cut, state) {
  const { label } = DATA.measures[state.measure];
  const rule = colour("--rule");
  const axis = { gridcolor: rule, linecolor: rule, zeroline: false, automargin: true };
  const empty = { text: "nothing to show", xref: "paper", yref: "paper", showarrow: false };
  return {
    height: 320, margin: { l: 56, r: 14, t: 8, b: 40 }, showlegend: false,
    hovermode: "x unified", dragmode: TOUCH ? false : "zoom",
    font: { color: colour("--soft"), size: 12, family: getComputedStyle(document.body).fontFamily },
    paper_bgcolor: colour("--paper"), plot_bgcolor: colour("--paper"),
    hoverlabel: { bgcolor: colour("--paper"), bordercolor: rule, font: { color: colour("--ink") } },
    annotations: curves.length ? [] : [empty],
    xaxis: {
      ...axis, title: { text: "round t" }, range: [0, curves.length ? endOf(curves) : 1], tickformat: "~s",
      unifiedhovertitle: { text: "round %{x:,}" }, spikecolor: colour("--soft"), spikethickness: 1, spikedash: "dot",
    },
    yaxis: {
      ...axis, title: { text: label }, type: state.log ? "log" : "linear", tickformat: state.log ? "" : ",~r",
      range: limits(curves, reference, cut, state),
    },
  };
}

function keys(div, rounds) {
  let at = rounds.length - 1;
  div.addEventListener("keydown", ({ key }) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rounds.length - 1 }[key];
    if (key === "Escape") Plotly.Fx.unhover(div);
    if (to === undefined) return;
    at = Math.max(0, Math.min(rounds.length - 1, to));
    Plotly.Fx.hover(div, { xval: rounds[at] }, "xy");
  });
}

function start(figure) {
  const run = DATA.runs[figure.dataset.run];
  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  const state = { measure: figure.dataset.measure, hidden: new Set(), whole: false, log: pressed(figure.querySelector("[data-switch=log]")) };
  const own = [];
  figure.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    const { measure, policy, switch: name } = button.dataset;
    const on = measure !== undefined || !pressed(button);
    if (measure) {
      figure.querySelectorAll("[data-measure]").forEach((each) => each.setAttribute("aria-pressed", "false"));
      figure.dataset.measure = state.measure = measure;
    } else if (name) state[name] = on;
    else state.hidden[on ? "delete" : "add"](Number(policy));
    button.setAttribute("aria-pressed", String(on));
    own.filter((draw) => drawn.has(draw)).forEach((draw) => draw());
  });
  figure.querySelectorAll(".plot").forEach((div, i) => {
    const panel = run.panels[i];
    const draw = () => {
      const curves = curvesOf(run, panel, state);
      const reference = curves.length && !state.log ? panel.references[state.measure] : null;
      const low = DATA.measures[state.measure].better === "low";
      const cut = low && !state.whole && !state.log ? cutAt(curves) : null;
      const above = curves.filter((curve) => cut && curve.y.at(-1) > cut);
      const words = above.map(({ policy, y }) => `↑ ${policy.name}: ${Math.round(y.at(-1)).toLocaleString("en-US")}`);
      div.nextElementSibling.innerHTML = words.join(", "); // names are escaped
      Plotly.react(div, traces(curves, reference, state), layoutOf(curves, reference, cut, state), CONFIG);
    };
    own.push(draw);
    keys(div, run.grids[0]);
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      drawn.add(draw);
      draw();
    }, { rootMargin: "800px" }).observe(div);
  });
  addEventListener("beforeprint", () => own.forEach((draw) => drawn.add(draw)));
}

document.querySelectorAll(".figure").forEach(start);
addEventListener("beforeprint", () => { printing = true; redraw(); });
addEventListener("afterprint", () => { printing = false; redraw(); });
system.addEventListener("change", redraw);
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  redraw();
});
})();
