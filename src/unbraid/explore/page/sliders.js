// A slider for every code, the most informative first, with the data's histogram above it.
import { byId, drawn, element, round } from "./format.js";

const STEPS = 400;
const SHOWN = 16; // sliders of a stage; those of less informative codes are folded away

function histogram({ histogram: counts }) {
  const svg = drawn("svg", { viewBox: `0 0 ${counts.length} 100`, preserveAspectRatio: "none", "aria-hidden": "true" });
  counts.forEach((count, i) => {
    const height = (100 * count) / 255;
    svg.append(drawn("rect", { x: i + 0.06, width: 0.88, y: 100 - height, height }));
  });
  return svg;
}

export class Slider {
  constructor(state, stage, index) {
    Object.assign(this, { state, stage, index });
    const code = state.code(stage, index);
    this.name = element("button", { type: "button", class: "name", title: "Click to name this code" });
    this.column = element("span", { class: "column" });
    this.value = element("output");
    const { low, high } = code;
    this.input = element("input", { type: "range", min: String(low), max: String(high) });
    this.input.step = String((high - low) / STEPS || 0.01);
    this.head = element("div", { class: "head" }, this.name, this.column, this.value);
    this.row = element("div", { class: "code" }, this.head, histogram(code), this.input);
    this.row.dataset.code = `${stage + 1}/${code.column}`;
    this.input.addEventListener("input", () => {
      if (!this.isSelected()) state.select(stage, index);
      state.set(stage, index, Number(this.input.value));
    });
    this.row.addEventListener("pointerdown", () => { if (!this.isSelected()) state.select(stage, index); });
    this.input.addEventListener("focus", () => { if (!this.isSelected()) state.select(stage, index); });
    this.name.addEventListener("click", () => this.edit());
    this.showName();
    this.show();
  }

  isSelected() { return this.state.selected.stage === this.stage && this.state.selected.index === this.index; }

  show() {
    const value = this.state.codes[this.stage][this.index];
    this.input.value = String(value);
    this.value.textContent = round(value);
    this.input.setAttribute("aria-valuetext", round(value));
    this.row.classList.toggle("selected", this.isSelected());
  }

  showName() {
    const { column } = this.state.code(this.stage, this.index);
    const name = this.state.name(this.stage, this.index);
    this.name.textContent = name;
    this.name.setAttribute("aria-label", `Name of ${column}: ${name}. Click to change it`);
    this.column.textContent = name === column ? "" : column;
    this.input.setAttribute("aria-label", name === column ? column : `${name} (${column})`);
  }

  edit() {
    const { column } = this.state.code(this.stage, this.index);
    const own = this.state.name(this.stage, this.index);
    const field = element("input", { class: "edit", "aria-label": `Name of ${column}`, placeholder: column });
    field.value = own === column ? "" : own;
    this.name.replaceWith(field);
    field.focus();
    field.select();
    let done = false;
    const end = (keep) => {
      if (done) return;
      done = true;
      field.replaceWith(this.name);
      if (keep) this.state.rename(this.stage, this.index, field.value.trim());
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") {
        event.preventDefault(); // or the key would press the button that is focused next, and edit again
        end(event.key === "Enter");
        this.name.focus();
      }
    });
    field.addEventListener("blur", () => end(true));
  }
}

function heading(state, stage) {
  const { method } = state.stages[stage];
  const about = stage === state.main ? "click a name to change it" : `stage ${stage + 1}`;
  return element("h2", {}, `Codes of ${method} `, element("small", {}, about));
}

// Sliders of the main stage in the open, those that have collapsed folded away, other stages on demand.
export function buildSliders(state) {
  const place = byId("codes"), all = [];
  const add = (parent, stage, indices) => {
    for (const index of indices) {
      const slider = new Slider(state, stage, index);
      all.push(slider);
      parent.append(slider.row);
    }
  };
  const inner = (parent, stage) => {
    const { codes, count } = state.stages[stage];
    const order = state.order[stage];
    const used = order.filter((i) => !codes[i].collapsed), collapsed = order.filter((i) => codes[i].collapsed);
    const folded = (text, indices) => {
      if (!indices.length) return;
      const fold = element("details", { open: !used.length }, element("summary", {}, text));
      add(fold, stage, indices);
      parent.append(fold);
    };
    add(parent, stage, used.slice(0, SHOWN));
    folded(`${used.length - SHOWN} more codes, which say less`, used.slice(SHOWN));
    folded(collapsed.length === 1 ? "1 code says next to nothing of the data" : `${collapsed.length} codes say next to nothing of the data`, collapsed);
    if (count > codes.length) parent.append(element("p", { class: "help" }, `and ${count - codes.length} more codes, which only Random sets`));
  };
  place.append(heading(state, state.main));
  inner(place, state.main);
  state.stages.forEach((_, stage) => {
    if (stage === state.main) return;
    const fold = element("details", {}, element("summary", {}, `Codes of ${state.stages[stage].method}, which ${stage > state.main ? "adds detail" : "was its teacher"}`));
    inner(fold, stage);
    place.append(fold);
  });
  state.on((what) => {
    if (what === "codes" || what === "selected") all.forEach((slider) => slider.show());
    if (what === "names") all.forEach((slider) => slider.showName());
  });
}
