// How far an axis reaches, and where a value lies on it.

const DWARFED = 5; // a line that ends this many times above all lines below it is cut off

function readableTop(finals) {
  const ordered = [...finals].sort((a, b) => a - b);
  for (let i = 0; i + 1 < ordered.length; i++) {
    const enough = 2 * (i + 1) >= ordered.length;
    if (enough && ordered[i] > 0 && ordered[i + 1] > DWARFED * ordered[i]) return 1.2 * ordered[i];
  }
  const last = ordered[ordered.length - 1];
  return last > 0 ? 1.12 * last : 1;
}

function limits(curves, measure, truth, end, state) {
  const finals = curves.map((curve) => curve.mean[curve.mean.length - 1]);
  const all = curves.flatMap((curve) => curve.mean.filter((value) => value !== null));
  if (state.log) {
    const above = all.filter((value) => value > 0);
    return above.length ? [Math.min(...above) / 1.2, Math.max(...above) * 1.2] : [0.1, 1];
  }
  if (measure === "rand_index") return [Math.min(-0.05, ...all), 1.05];
  if (DATA.measures[measure].better === "low") {
    const top = state.whole ? 1.06 * Math.max(...all) || 1 : readableTop(finals);
    return [Math.min(-0.02 * top, ...all), top];
  }
  const line = truth ? truth[1] + truth[2] * end : 0;
  return [0, 1.06 * Math.max(line, ...all) || 1];
}

function scale(low, high, from, to, log) {
  const f = log ? Math.log : (value) => value;
  return (value) => from + ((f(value) - f(low)) / (f(high) - f(low))) * (to - from);
}

function spread(places, gap, low, high) {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const step = Math.min(gap, (high - low) / Math.max(1, places.length - 1));
  const moved = [];
  let before = -Infinity;
  for (const i of order) {
    moved[i] = before = Math.max(places[i], before + step, low);
  }
  let after = high + step;
  for (const i of [...order].reverse()) {
    moved[i] = after = Math.min(moved[i], after - step);
  }
  return moved;
}
