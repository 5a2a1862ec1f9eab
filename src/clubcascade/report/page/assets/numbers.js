// Numbers for people, and round numbers for axes.

const SHARES = new Set(["ctr", "rand_index"]);

function shown(value, measure) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (SHARES.has(measure)) return value.toFixed(3);
  const size = Math.abs(value);
  if (size >= 100 || value === Math.round(value)) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(size >= 10 ? 1 : 2);
}

function withHalf(mean, half, measure) {
  if (half === undefined || half === null) return shown(mean, measure);
  const digits = (shown(mean, measure).split(".")[1] || "").length;
  const width = digits || half >= 10 ? half.toFixed(digits) : String(Number(half.toPrecision(2)));
  return `${shown(mean, measure)} ± ${digits ? width : Number(width).toLocaleString("en-US")}`;
}

function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((n) => n * power >= rough);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) found.push(n * step);
  return found;
}

function powers(low, high) {
  const found = [];
  for (let n = Math.ceil(Math.log10(low) - 1e-9); 10 ** n <= high * 1.000001; n++) found.push(10 ** n);
  return found;
}

function tickText(value) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e6) return `${Number((value / 1e6).toPrecision(4)).toLocaleString("en-US")}M`;
  return Math.abs(value) >= 1 && Number.isInteger(value)
    ? value.toLocaleString("en-US")
    : String(Number(value.toPrecision(4)));
}
