// The panels of one result folder, with what they share: the measure, the scale, the legend.

function makeFigure(root, run) {
  const state = { measure: run.measure, hidden: new Set(), whole: false, log: run.log };
  const panels = html("div", { class: "panels" });
  const frames = run.panels.map((panel) => {
    const frame = html("figure", { class: "panel" }, html("figcaption", {}, panel.title));
    panels.append(frame);
    return frame;
  });
  const draw = () => {
    root.dataset.measure = state.measure;
    run.panels.forEach((panel, i) => {
      unpoint(frames[i]);
      listen(frames[i], drawPanel(frames[i], panel, run, state));
    });
  };
  root.replaceChildren(controls(run, state, draw), legend(run, state, draw), panels);
  draw();
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    draw();
  }).observe(root);
}

function press(button, on) {
  button.setAttribute("aria-pressed", String(on));
}

function controls(run, state, draw) {
  const bar = html("div", { class: "controls" });
  const buttons = run.measures.map((name) => {
    const { short, label } = DATA.measures[name];
    const button = html("button", { type: "button", title: label, "data-measure": name }, short);
    button.addEventListener("click", () => {
      state.measure = name;
      buttons.forEach((each) => press(each, each === button));
      draw();
    });
    press(button, name === state.measure);
    return button;
  });
  bar.append(...buttons, html("span", { class: "gap" }));
  bar.append(toggle("whole scale", "show every line to its end", "whole", state, draw));
  bar.append(toggle("log", "logarithmic scale", "log", state, draw));
  return bar;
}

function toggle(text, title, key, state, draw) {
  const button = html("button", { type: "button", title }, text);
  press(button, state[key]);
  button.addEventListener("click", () => {
    state[key] = !state[key];
    press(button, state[key]);
    draw();
  });
  return button;
}

function legend(run, state, draw) {
  const bar = html("div", { class: "legend" });
  run.policies.forEach((policy, i) => {
    const style = look(policy.place);
    const key = svg("svg", { width: 34, height: 12, "aria-hidden": "true" }, [
      svg("line", { x1: 1, x2: 33, y1: 6, y2: 6, style: stroke(style) }),
      mark(style.marker, 17, 6, style.colour),
    ]);
    const button = html("button", { type: "button", title: "show or hide" }, key, policy.label);
    press(button, true);
    button.addEventListener("click", () => {
      if (!state.hidden.delete(i)) state.hidden.add(i);
      press(button, !state.hidden.has(i));
      draw();
    });
    bar.append(button);
  });
  const truths = run.panels.flatMap((panel) => Object.values(panel.truth)).filter(Boolean);
  if (truths.length) bar.append(html("span", { class: "meta" }, "dotted: an oracle, or the true clusters"));
  return bar;
}
