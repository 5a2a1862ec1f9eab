// SVG elements, and how the line of a place looks: colour, dash, width, marker.

function svg(name, attributes, children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  for (const child of children || []) if (child) element.append(child);
  return element;
}

function html(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function look(place) {
  const turn = Math.floor(place / DATA.colours);
  const width = DATA.wide.includes(place) ? 2.6 : 1.8;
  const dash = DATA.dashes[(place + turn) % DATA.dashes.length];
  return {
    colour: `var(--line${place % DATA.colours})`,
    width,
    dash: dash.map((length) => length * width).join(" "),
    marker: DATA.markers[(place + turn) % DATA.markers.length],
  };
}

const OUTLINES = {
  s: "M-1-1H1V1H-1Z",
  "^": "M0-1.2L1.2 1H-1.2Z",
  v: "M0 1.2L1.2-1H-1.2Z",
  D: "M0-1.4L1.2 0L0 1.4L-1.2 0Z",
  P: "M-.4-1.3H.4V-.4H1.3V.4H.4V1.3H-.4V.4H-1.3V-.4H-.4Z",
  X: "M-1.3-.8L-.8-1.3L0-.5L.8-1.3L1.3-.8L.5 0L1.3 .8L.8 1.3L0 .5L-.8 1.3L-1.3 .8L-.5 0Z",
};

function mark(letter, x, y, colour, size = 3.4) {
  if (letter === "o") return svg("circle", { cx: x, cy: y, r: size, style: `fill:${colour}` });
  const place = `translate(${x} ${y}) scale(${size})`;
  return svg("path", { d: OUTLINES[letter], transform: place, style: `fill:${colour}` });
}

function stroke(style) {
  const dash = style.dash ? `;stroke-dasharray:${style.dash}` : "";
  return `stroke:${style.colour};stroke-width:${style.width}${dash}`;
}
