// Values under the pointer, the finger or the arrow keys: a crosshair and a list of all policies.

function nearest(rounds, wanted) {
  let low = 0;
  let high = rounds.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (rounds[middle] <= wanted) low = middle;
    else high = middle;
  }
  return wanted - rounds[low] <= rounds[high] - wanted ? low : high;
}

function listen(figure, drawn) {
  if (!drawn) return;
  const { picture, box, curves } = drawn;
  const rounds = curves[0].round;
  let at = rounds.length - 1;
  const go = (index) => {
    at = Math.max(0, Math.min(rounds.length - 1, index));
    point(figure, drawn, rounds[at]);
  };
  const move = (event) => {
    const frame = picture.getBoundingClientRect();
    const px = ((event.clientX - frame.left) * drawn.width) / frame.width;
    const share = (px - box.left) / (box.right - box.left);
    go(nearest(rounds, share * rounds[rounds.length - 1]));
  };
  picture.addEventListener("pointermove", move);
  picture.addEventListener("pointerdown", move);
  picture.addEventListener("pointerleave", () => unpoint(figure));
  picture.addEventListener("blur", () => unpoint(figure));
  picture.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    const far = { Home: 0, End: rounds.length - 1 };
    if (event.key in steps) go(at + steps[event.key]);
    else if (event.key in far) go(far[event.key]);
    else if (event.key === "Escape") unpoint(figure);
    else return;
    event.preventDefault();
  });
}

function unpoint(figure) {
  figure.querySelectorAll(".tip, .pointed").forEach((element) => element.remove());
}

function point(figure, drawn, round) {
  unpoint(figure);
  const { picture, box, x, y, curves, low, high, measure } = drawn;
  const px = x(round);
  const cross = svg("g", { class: "pointed" });
  const line = { x1: px, x2: px, y1: box.top, y2: box.bottom };
  cross.append(svg("line", { class: "cross", ...line }));
  const rows = curves.map((curve) => {
    const i = nearest(curve.round, round);
    return { curve, mean: curve.mean[i], half: curve.half[i] };
  });
  for (const { curve, mean } of rows) {
    if (mean === null || mean > high || mean < low) continue;
    cross.append(mark(curve.style.marker, px, y(mean), curve.style.colour, 4));
  }
  picture.append(cross);
  rows.sort((a, b) => b.mean - a.mean);
  const tip = html("div", { class: "tip", role: "status" });
  tip.append(html("b", {}, `round ${round.toLocaleString("en-US")}`));
  for (const { curve, mean, half } of rows) {
    const swatch = html("span", { class: "swatch", style: `background:${curve.style.colour}` });
    const value = html("span", {}, withHalf(mean, half, measure));
    tip.append(html("div", {}, swatch, html("span", {}, curve.label), value));
  }
  figure.append(tip);
  const size = picture.clientWidth / drawn.width;
  const space = figure.clientWidth - tip.offsetWidth;
  const right = px < (box.left + box.right) / 2;
  const left = right ? px * size + 14 : px * size - tip.offsetWidth - 14;
  tip.style.left = `${Math.max(0, Math.min(space, left))}px`;
  const above = picture.getBoundingClientRect().top - figure.getBoundingClientRect().top;
  tip.style.top = `${above + box.top}px`;
}
