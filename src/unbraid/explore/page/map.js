// Observations on a plane: hover to see one, click to start from it, or to take some of its codes over.
import { byId, drawn, element } from "./format.js";
import { drawImage, drawVector } from "./drawing.js";

const CLASSES = ["#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6", "#7f7f7f"];

const SCALE = [[68, 58, 131], [49, 104, 142], [53, 150, 136], [122, 190, 105], [226, 196, 74]]; // from low to high

function between(share) {
  const at = Math.min(share * (SCALE.length - 1), SCALE.length - 1.001), k = Math.floor(at);
  return `rgb(${SCALE[k].map((v, i) => Math.round(v + (at - k) * (SCALE[k + 1][i] - v))).join(" ")})`;
}

function colourOf(factor, value, low, high) {
  if (value === null) return "#9994";
  const share = (value - low) / (high - low || 1);
  if (factor.kind === "categorical") return CLASSES[value % CLASSES.length];
  if (factor.kind === "cyclic") return `hsl(${(360 * (value - low)) / (high - low + 1)} 46% 58%)`;
  return between(share);
}

// What of another observation can be taken over: codes of a stage, of a group, or one alone.
function transfers(state) {
  const found = [];
  state.stages.forEach(({ groups, codes, method, count }, stage) => {
    if (!state.known[stage]) return;
    if (state.stages.length > 1) found.push({ label: `copies ${method}'s codes`, stage, from: 0, to: count });
    let at = 0;
    for (const [key, width] of Object.entries(groups)) {
      if (Object.keys(groups).length > 1) {
        const what = { u: "class codes u", c: "class codes c", z: "other codes z" }[key] || `codes ${key}`;
        found.push({ label: `copies ${what}`, stage, from: at, to: at + width });
      }
      at += width;
    }
    if (stage === state.main)
      for (const i of state.order[stage]) if (!codes[i].collapsed) found.push({ code: i, stage, from: i, to: i + 1 });
  });
  return found;
}

export function buildMap(state, pictures) {
  const { observations } = state.model;
  const map = byId("map"), colour = byId("colour"), click = byId("click");
  const svg = drawn("svg", {}), preview = element("div", { class: "preview", hidden: true });
  const picture = element("canvas"), caption = element("span");
  preview.append(picture, caption);
  map.append(svg, preview);
  const place = ([x, y]) => [4 + 92 * x, 5 + 90 * (1 - y)];
  const dots = observations.map.map((point) => {
    const [cx, cy] = place(point);
    const dot = drawn("circle", { cx: `${cx}%`, cy: `${cy}%`, r: 5 });
    svg.append(dot);
    return dot;
  });
  let near = -1;

  observations.factors.forEach((factor, i) => colour.append(element("option", { value: String(i) }, factor.name)));
  byId("colour-label").hidden = !observations.factors.length;
  colour.value = String(observations.factors.reduce((best, f, i, all) => (f.order > all[best].order ? i : best), 0));
  function paint() {
    const factor = observations.factors[Number(colour.value)];
    const values = factor ? factor.of.filter((v) => v !== null) : [];
    const low = Math.min(...values), high = Math.max(...values);
    dots.forEach((dot, i) => dot.setAttribute("fill", factor ? colourOf(factor, factor.of[i], low, high) : "var(--accent)"));
  }

  const choices = transfers(state);
  click.append(element("option", { value: "" }, "starts from it"));
  choices.forEach((choice, i) => click.append(element("option", { value: String(i) })));
  const label = () => choices.forEach((choice, i) => {
    const text = choice.code === undefined ? choice.label : `copies ${state.name(choice.stage, choice.code)}`;
    click.options[i + 1].textContent = `${text} from it`;
  });

  function pick(k) {
    const choice = choices[Number(click.value)];
    if (click.value === "" || !choice) {
      state.startFrom({ observation: k }, state.observation(k));
      return;
    }
    const codes = state.codes.map((c) => c.slice());
    codes[choice.stage].set(state.known[choice.stage][k].subarray(choice.from, choice.to), choice.from);
    state.setAll(codes);
  }

  function factorText(k) {
    const factor = observations.factors[Number(colour.value)];
    const value = factor?.of[k] ?? null;
    return value === null ? "" : `${factor.name} ${factor.values[value] ?? +value.toFixed(2)}`;
  }

  function look(k) {
    if (near >= 0) dots[near].classList.remove("near");
    near = k;
    preview.hidden = k < 0;
    if (k < 0) return;
    dots[k].classList.add("near");
    svg.append(dots[k]);
    const [x, y] = place(observations.map[k]);
    preview.style.left = x > 55 ? `calc(${x}% - 104px)` : `calc(${x}% + 14px)`;
    preview.style.top = y > 55 ? `calc(${y}% - 104px)` : `${y}%`;
    const values = pictures(k);
    picture.hidden = !values;
    if (!values) preview.hidden = !factorText(k);
    else if (state.model.data.kind === "image") drawImage(picture, values, state.model.data.shape);
    else drawVector(picture, [{ values, stroke: getComputedStyle(map).getPropertyValue("--accent") }], state.model, { width: 80, height: 60 });
    caption.textContent = factorText(k);
    map.setAttribute("aria-label", `Observation ${k + 1} of ${observations.count}. ${caption.textContent}`);
  }

  function nearest(x, y, fits = () => true) {
    const box = map.getBoundingClientRect();
    let best = -1, least = Infinity;
    observations.map.forEach((point, k) => {
      const [px, py] = place(point).map((v, i) => (v / 100) * (i ? box.height : box.width));
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least && fits(px - x, py - y, k)) [best, least] = [k, distance];
    });
    return best;
  }
  const under = (event) => {
    const box = map.getBoundingClientRect();
    return nearest(event.clientX - box.left, event.clientY - box.top);
  };
  map.addEventListener("pointermove", (event) => look(under(event)));
  map.addEventListener("pointerleave", () => look(-1));
  map.addEventListener("click", (event) => pick(under(event)));
  map.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (near >= 0) pick(near);
    }
    if (!step) return;
    event.preventDefault();
    if (near < 0) return look(state.start?.observation ?? 0);
    const box = map.getBoundingClientRect();
    const [x, y] = place(observations.map[near]).map((v, i) => (v / 100) * (i ? box.height : box.width));
    const next = nearest(x, y, (dx, dy, k) => k !== near && dx * step[0] + dy * step[1] > Math.abs(dx * step[1]) + Math.abs(dy * step[0]));
    if (next >= 0) look(next);
  });
  colour.addEventListener("change", paint);
  state.on((what) => {
    if (what === "names") label();
    if (what !== "start") return;
    dots.forEach((dot, k) => dot.classList.toggle("chosen", state.start?.observation === k));
    svg.append(...svg.querySelectorAll(".chosen")); // last is on top
  });
  byId("map-absent").textContent = observations.absent || "";
  byId("map-absent").hidden = !observations.absent;
  map.setAttribute("aria-label", `${observations.count} observations on a plane`);
  label();
  paint();
}
