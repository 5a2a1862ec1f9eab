// One panel: grid, bands, lines, the line of the truth, and names at the ends.

const MOST_BANDS = 12; // of more policies, only lines: hide some to see bands
let clips = 0;

function visibleCurves(panel, run, state) {
  const found = [];
  const derived = state.measure === "ctr";
  panel.curves[derived ? "reward" : state.measure].forEach((curve, i) => {
    if (!curve || state.hidden.has(i)) return;
    const round = run.grids[curve[0]];
    const [mean, half] = [curve[1], curve[2]].map((values) => spelled(values, round, derived));
    const policy = run.policies[i];
    found.push({ label: policy.label, style: look(policy.place), round, mean, half });
  });
  return found;
}

function spelled(values, round, derived) {
  // One value stands for as many; clicks per round are clicks over rounds.
  const all = values.length === 1 ? round.map(() => values[0]) : values;
  return derived ? all.map((value, i) => value / round[i]) : all;
}

function drawPanel(figure, panel, run, state) {
  const curves = visibleCurves(panel, run, state);
  const width = Math.max(280, Math.round(figure.clientWidth || 560));
  const height = Math.round(Math.min(340, Math.max(230, 0.56 * width)));
  const names = width >= 480;
  const box = { left: 66, right: width - (names ? 172 : 58), top: 8, bottom: height - 36 };
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: "0" });
  const measure = DATA.measures[state.measure];
  picture.setAttribute("aria-label", `${panel.title}: ${measure.label}, ${curves.length} policies`);
  const old = figure.querySelector("svg");
  if (old) old.replaceWith(picture);
  else figure.append(picture);
  if (!curves.length) {
    const note = svg("text", { x: width / 2, y: height / 2, "text-anchor": "middle" });
    note.textContent = "nothing to show";
    picture.append(note);
    return null;
  }
  const end = Math.max(...curves.map((curve) => curve.round[curve.round.length - 1]));
  const truth = state.log ? null : panel.truth[state.measure];
  const [low, high] = limits(curves, state.measure, truth, end, state);
  const x = scale(0, end, box.left, box.right);
  const y = scale(low, high, box.bottom, box.top, state.log);
  drawAxes(picture, box, x, y, [low, high], end, measure.label, state.log);
  const id = `clip${clips++}`;
  picture.append(clip(id, box));
  const inside = svg("g", { "clip-path": `url(#${id})` });
  picture.append(inside);
  if (truth) inside.append(truthLine(truth, end, x, y));
  const floor = state.log ? low : -Infinity;
  const banded = curves.length <= MOST_BANDS ? curves.filter((curve) => curve.half.length) : [];
  for (const curve of banded) inside.append(band(curve, x, y, floor));
  curves.forEach((curve, i) => inside.append(...line(curve, x, y, floor, i / curves.length)));
  drawEnds(picture, curves, box, y, high, names, state.measure);
  return { picture, box, x, y, curves, low, high, width, height, measure: state.measure };
}

function drawAxes(picture, box, x, y, [low, high], end, label, log) {
  for (const value of log ? powers(low, high) : ticks(low, high, 5)) {
    const at = y(value);
    picture.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: at, y2: at }));
    picture.append(words(tickText(value), box.left - 6, at + 4, "end"));
  }
  for (const value of ticks(0, end, box.right - box.left > 300 ? 5 : 3)) {
    const at = x(value);
    picture.append(svg("line", { class: "grid", x1: at, x2: at, y1: box.top, y2: box.bottom }));
    picture.append(words(tickText(value), at, box.bottom + 15, "middle"));
  }
  const ends = { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom };
  picture.append(svg("line", { class: "axis", ...ends }));
  picture.append(words("round t", (box.left + box.right) / 2, box.bottom + 31, "middle"));
  const side = words(label, 0, 0, "middle");
  side.setAttribute("transform", `translate(11 ${(box.top + box.bottom) / 2}) rotate(-90)`);
  picture.append(side);
}

function words(text, x, y, anchor, kind) {
  const element = svg("text", { x, y, "text-anchor": anchor });
  if (kind) element.setAttribute("class", kind);
  element.textContent = text;
  return element;
}

function clip(id, box) {
  const size = { width: box.right - box.left + 2, height: box.bottom - box.top + 4 };
  return svg("clipPath", { id }, [svg("rect", { x: box.left, y: box.top - 2, ...size })]);
}

function truthLine(truth, end, x, y) {
  const last = truth[1] + truth[2] * end;
  const line = svg("line", {
    class: "truth", x1: x(0), x2: x(end), y1: y(truth[1]), y2: y(last),
  });
  line.append(svg("title", {}, [truth[0]]));
  return line;
}

function points(rounds, values, x, y, floor) {
  return values.map((value, i) => `${x(rounds[i]).toFixed(1)} ${y(Math.max(value, floor)).toFixed(1)}`);
}

function band(curve, x, y, floor) {
  const upper = curve.mean.map((value, i) => value + curve.half[i]);
  const lower = curve.mean.map((value, i) => value - curve.half[i]);
  const there = points(curve.round, upper, x, y, floor);
  const back = points(curve.round, lower, x, y, floor).reverse();
  const d = `M${[...there, ...back].join("L")}Z`;
  return svg("path", { class: "band", d, style: `fill:${curve.style.colour}` });
}

function line(curve, x, y, floor, phase) {
  const places = points(curve.round, curve.mean, x, y, floor);
  const path = svg("path", { class: "line", d: `M${places.join("L")}`, style: stroke(curve.style) });
  path.dataset.label = curve.label;
  const every = Math.max(1, Math.round(places.length / 7));
  const marks = [];
  for (let i = Math.round(phase * every); i < places.length; i += every) {
    const [px, py] = places[i].split(" ").map(Number);
    marks.push(mark(curve.style.marker, px, py, curve.style.colour));
  }
  return [path, ...marks];
}

function drawEnds(picture, curves, box, y, high, names, measure) {
  const finals = curves.map((curve) => curve.mean[curve.mean.length - 1]);
  const at = finals.map((value) => y(Math.min(value, high)));
  const heights = spread(at, 13, box.top + 4, box.bottom - 2);
  curves.forEach((curve, i) => {
    const cut = finals[i] > high ? "↑" : "";
    const value = shown(finals[i], measure);
    const text = names ? shorten(curve.label, 24) : value;
    picture.append(mark(curve.style.marker, box.right + 9, heights[i], curve.style.colour, 3));
    const label = words(`${cut}${text}`, box.right + 17, heights[i] + 4, "start", "name");
    label.append(svg("title", {}, [`${curve.label}: ${value}`]));
    picture.append(label);
  });
}

function shorten(text, length) {
  // What tells lines of one family apart stands at the end: leave out the middle.
  return text.length > length ? `${text.slice(0, 5)}…${text.slice(6 - length)}` : text;
}
