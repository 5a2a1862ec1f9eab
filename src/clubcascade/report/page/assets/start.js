// Draw every figure; switch between dark and light.

for (const root of document.querySelectorAll(".figure")) {
  const run = DATA.runs.find((each) => each.id === root.dataset.run);
  if (run) makeFigure(root, run);
}

document.getElementById("theme").addEventListener("click", () => {
  const page = document.documentElement;
  const dark = page.dataset.theme
    ? page.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  page.dataset.theme = dark ? "light" : "dark";
});
