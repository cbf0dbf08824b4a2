// Two codes at once: a handle dragged in a plane, over the places where the observations lie.
import { byId, clamp, drawn, element, round } from "./format.js";

const STEP = 0.02; // of the range, for an arrow key

export function buildPad(state) {
  const pad = byId("pad"), across = byId("across"), up = byId("up");
  const svg = drawn("svg", { "aria-hidden": "true" });
  const dots = drawn("g", {}), handle = drawn("circle", { class: "handle", r: 9 });
  const lines = [drawn("line", {}), drawn("line", {})];
  svg.append(...lines, dots, handle);
  pad.append(svg);
  const choices = state.order[state.main];
  for (const select of [across, up])
    for (const index of choices) select.append(element("option", { value: String(index) }));
  across.value = String(choices[0]);
  up.value = String(choices[1] ?? choices[0]);
  const axes = () => [Number(across.value), Number(up.value)];
  const share = (index, value) => {
    const { low, high } = state.code(state.main, index);
    return clamp((value - low) / (high - low || 1), 0, 1);
  };

  function show() {
    const [x, y] = axes().map((index) => share(index, state.codes[state.main][index]));
    const at = { x: `${100 * x}%`, y: `${100 * (1 - y)}%` };
    handle.setAttribute("cx", at.x);
    handle.setAttribute("cy", at.y);
    const ends = [[at.x, "0%", at.x, "100%"], ["0%", at.y, "100%", at.y]];
    lines.forEach((line, i) => ["x1", "y1", "x2", "y2"].forEach((name, k) => line.setAttribute(name, ends[i][k])));
    const said = axes().map((index) => `${state.name(state.main, index)} ${round(state.codes[state.main][index])}`);
    pad.setAttribute("aria-label", `Two codes at once: ${said.join(", ")}`);
  }

  function showDots() {
    dots.replaceChildren();
    for (const codes of state.known[state.main] || []) {
      const [x, y] = axes().map((index) => share(index, codes[index]));
      dots.append(drawn("circle", { cx: `${100 * x}%`, cy: `${100 * (1 - y)}%`, r: 2 }));
    }
    show();
  }

  function move(shares) {
    axes().forEach((index, i) => {
      const { low, high } = state.code(state.main, index);
      state.codes[state.main][index] = low + clamp(shares[i], 0, 1) * (high - low);
    });
    state.tell("codes");
  }

  const drag = (event) => {
    const box = pad.getBoundingClientRect();
    move([(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height]);
  };
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    drag(event);
  });
  pad.addEventListener("pointermove", (event) => { if (pad.hasPointerCapture(event.pointerId)) drag(event); });
  pad.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    move(axes().map((index, i) => share(index, state.codes[state.main][index]) + STEP * step[i]));
  });
  const label = () => {
    for (const select of [across, up])
      for (const option of select.options) option.textContent = state.name(state.main, Number(option.value));
    show();
  };
  for (const select of [across, up]) select.addEventListener("change", showDots);
  state.on((what) => (what === "names" ? label() : what === "codes" && show()));
  label();
  showDots();
}
