// A packed ONNX graph, and how it is run.
import { ELEMENTWISE } from "./elementwise.js";
import { LINEAR } from "./linear.js";
import { REDUCTIONS } from "./reductions.js";
import { RESAMPLING } from "./resampling.js";
import { SHAPES } from "./shapes.js";
import { size } from "./tensor.js";

export const OPERATORS = { ...ELEMENTWISE, ...LINEAR, ...REDUCTIONS, ...RESAMPLING, ...SHAPES };

function fromHalf(h) {
  const sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, fraction = h & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

let halves = null; // all 65536 of them: looked up, they are read ten times as fast

function halfTable() {
  halves ||= Float32Array.from({ length: 65536 }, (_, h) => fromHalf(h));
  return halves;
}

const GROUP = 64; // 2⁶ bytes share a step

// Weights as they are packed: half precision, or bytes with a half-precision step for each group of them.
function unpack({ dims, type, at, steps }, blob) {
  const n = size(dims);
  const half = (from, count) => Float32Array.from(new Uint16Array(blob.slice(from, from + 2 * count)), (h) => halfTable()[h]);
  if (type === "f16") return { dims, data: half(at, n) };
  if (type === "f32") return { dims, data: new Float32Array(blob.slice(at, at + 4 * n)) };
  if (type === "i32") return { dims, data: new Int32Array(blob.slice(at, at + 4 * n)) };
  if (type === "bool") return { dims, data: new Uint8Array(blob.slice(at, at + n)) };
  if (type !== "i8") throw new Error(`weights of type ${type} are not known`);
  const bytes = new Int8Array(blob, at, n), step = half(steps, Math.ceil(n / GROUP));
  const data = new Float32Array(n);
  for (let k = 0; k < n; k++) data[k] = bytes[k] * step[k >> 6];
  return { dims, data };
}

export class Graph {
  constructor({ inputs, outputs, nodes, constants }, blob) {
    this.inputs = inputs;
    this.outputs = outputs;
    this.constants = Object.fromEntries(Object.entries(constants).map(([name, c]) => [name, unpack(c, blob)]));
    this.nodes = nodes.map(([operator, from, to, attributes = {}]) => {
      if (!OPERATORS[operator]) throw new Error(`this page has no operator ${operator}`);
      const value = attributes.value && unpack(attributes.value, blob);
      return { run: OPERATORS[operator], operator, from, to, attributes: value ? { value } : attributes };
    });
    // Values are forgotten after the last node that reads them, so that large maps do not pile up.
    const last = new Map();
    this.nodes.forEach((node, i) => node.from.forEach((name) => last.set(name, i)));
    this.nodes.forEach((node, i) => {
      node.forget = node.from.filter((name) => last.get(name) === i && !outputs.includes(name));
    });
  }

  run(feeds) {
    const values = { ...this.constants, ...feeds };
    for (const { run, operator, from, to, attributes, forget } of this.nodes) {
      let made;
      try {
        made = run(from.map((name) => values[name]), attributes, to.length);
      } catch (error) {
        throw new Error(`${operator}: ${error.message}`);
      }
      to.forEach((name, i) => { values[name] = made[i]; });
      for (const name of forget) delete values[name];
    }
    return Object.fromEntries(this.outputs.map((name) => [name, values[name]]));
  }
}
