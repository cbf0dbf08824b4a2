// Where everything stands: codes, names, the observation started from; and who wants to know when it changes.
import { prefix } from "./format.js";

const HALF = 2; // bytes

function half(h) {
  const sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, fraction = h & 1023;
  return exponent ? sign * (1 + fraction / 1024) * 2 ** (exponent - 15) : sign * fraction * 2 ** -24;
}

export class State {
  constructor(model, names, block) {
    this.model = model;
    this.names = { ...names };
    this.stages = model.stages;
    const { count, codes } = model.observations;
    // The codes of the observations, [stage][observation]; none for a stage with more codes than anyone looks at.
    this.known = codes.map((at, stage) => {
      if (at === null) return null;
      const width = this.stages[stage].count;
      const all = Float32Array.from(new Uint16Array(block.slice(at, at + HALF * count * width)), half);
      return Array.from({ length: count }, (_, i) => all.slice(i * width, (i + 1) * width));
    });
    // A student that has relearned its teacher's codes does not heed the teacher's.
    this.main = this.stages.at(-1).replaces_codes ? this.stages.length - 1 : 0;
    this.order = this.stages.map(({ codes }) =>
      codes.map((_, i) => i).sort((a, b) => (codes[b].information ?? 0) - (codes[a].information ?? 0) || a - b));
    this.selected = { stage: this.main, index: this.order[this.main][0] };
    this.start = null; // {observation: k} or {own: values}
    this.codes = this.mean();
    this.listeners = [];
  }

  on(listener) { this.listeners.push(listener); }
  tell(what) { for (const listener of this.listeners) listener(what); }

  mean() {
    return this.stages.map(({ codes, count }) => Float32Array.from({ length: count }, (_, i) => codes[i]?.mean ?? 0));
  }

  // Codes that are one-hot, or that belong to a class, only make sense together: those come from one observation.
  // Each other code is drawn on its own from the values that it has in the data.
  random() {
    return this.stages.map(({ count, groups }, stage) => {
      const known = this.known[stage];
      const out = new Float32Array(count);
      if (!known) return out.map(() => normal());
      const pick = () => known[Math.floor(Math.random() * known.length)];
      let at = 0;
      for (const [key, width] of Object.entries(groups)) {
        const one = pick();
        for (let i = at; i < at + width; i++) out[i] = (key === "z" ? pick() : one)[i];
        at += width;
      }
      return out;
    });
  }

  set(stage, index, value) {
    this.codes[stage][index] = value;
    this.tell("codes");
  }

  setAll(codes) {
    this.codes = codes.map((c) => Float32Array.from(c));
    this.tell("codes");
  }

  startFrom(start, codes) {
    this.start = start;
    this.setAll(codes);
    this.tell("start");
  }

  observation(k) {
    return this.known.map((codes, stage) => (codes ? codes[k] : this.codes[stage]));
  }

  select(stage, index) {
    this.selected = { stage, index };
    this.tell("selected");
  }

  code(stage, index) { return this.stages[stage].codes[index]; }
  name(stage, index) {
    const { column } = this.code(stage, index);
    return this.names[prefix(stage) + column] || column;
  }

  rename(stage, index, name) {
    const { column } = this.code(stage, index);
    const key = prefix(stage) + column;
    if (name && name !== column) this.names[key] = name;
    else delete this.names[key];
    this.tell("names");
  }
}

function normal() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
