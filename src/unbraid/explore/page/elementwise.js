// Operators that work on every element on its own.
import { broadcastDims, broadcastStrides, floats, like, size, walk } from "./tensor.js";

function sameDims(a, b) {
  return a.length === b.length && a.every((d, i) => d === b[i]);
}

function binary(f, kind) {
  return ([a, b]) => {
    const dims = broadcastDims(a.dims, b.dims);
    const out = kind ? new kind(size(dims)) : like(a.data, size(dims));
    const x = a.data, y = b.data;
    if (sameDims(a.dims, b.dims)) for (let i = 0; i < out.length; i++) out[i] = f(x[i], y[i]);
    else if (y.length === 1) for (let i = 0; i < out.length; i++) out[i] = f(x[i], y[0]);
    else if (x.length === 1) for (let i = 0; i < out.length; i++) out[i] = f(x[0], y[i]);
    else {
      const steps = [broadcastStrides(a.dims, dims), broadcastStrides(b.dims, dims)];
      walk(dims, steps, (k, at) => { out[k] = f(x[at[0]], y[at[1]]); });
    }
    return [{ dims, data: out }];
  };
}

function unary(f, kind) {
  return ([a], attributes) => {
    const out = kind ? new kind(a.data.length) : like(a.data, a.data.length);
    for (let i = 0; i < out.length; i++) out[i] = f(a.data[i], attributes);
    return [{ dims: a.dims, data: out }];
  };
}

function many(f) {
  const pair = binary(f);
  return (inputs) => [inputs.reduce((a, b) => pair([a, b])[0])];
}

function clip([a, low, high]) {
  const least = low ? low.data[0] : -Infinity;
  const most = high ? high.data[0] : Infinity;
  const out = like(a.data, a.data.length);
  for (let i = 0; i < out.length; i++) out[i] = Math.min(Math.max(a.data[i], least), most);
  return [{ dims: a.dims, data: out }];
}

function where([condition, a, b]) {
  const dims = broadcastDims(broadcastDims(condition.dims, a.dims), b.dims);
  const out = like(a.data, size(dims));
  const steps = [condition, a, b].map((t) => broadcastStrides(t.dims, dims));
  walk(dims, steps, (k, at) => { out[k] = condition.data[at[0]] ? a.data[at[1]] : b.data[at[2]]; });
  return [{ dims, data: out }];
}

const FLOAT = 1, BOOL = 9, WHOLE = [2, 3, 4, 5, 6, 7, 12, 13];

function cast([a], { to }) {
  if (to === BOOL) return [{ dims: a.dims, data: Uint8Array.from(a.data, (v) => (v !== 0 ? 1 : 0)) }];
  if (WHOLE.includes(to)) return [{ dims: a.dims, data: Int32Array.from(a.data, Math.trunc) }];
  if (to === FLOAT || to === 10 || to === 11) return [floats(a.dims, Float32Array.from(a.data))];
  throw new Error(`cannot cast to type ${to}`);
}

export const ELEMENTWISE = {
  Add: binary((x, y) => x + y),
  Sub: binary((x, y) => x - y),
  Mul: binary((x, y) => x * y),
  Div: ([a, b]) => binary(a.data instanceof Int32Array ? (x, y) => Math.trunc(x / y) : (x, y) => x / y)([a, b]),
  Pow: binary((x, y) => x ** y),
  Min: many(Math.min),
  Max: many(Math.max),
  Less: binary((x, y) => x < y, Uint8Array),
  Greater: binary((x, y) => x > y, Uint8Array),
  Equal: binary((x, y) => x === y, Uint8Array),
  And: binary((x, y) => x & y),
  Or: binary((x, y) => x | y),
  Not: unary((x) => (x ? 0 : 1)),
  Where: where,
  Relu: unary((x) => (x > 0 ? x : 0)),
  LeakyRelu: unary((x, { alpha = 0.01 }) => (x >= 0 ? x : alpha * x)),
  Sigmoid: unary((x) => 1 / (1 + Math.exp(-x))),
  Tanh: unary(Math.tanh),
  Exp: unary(Math.exp),
  Log: unary(Math.log),
  Sqrt: unary(Math.sqrt),
  Abs: unary(Math.abs),
  Neg: unary((x) => -x),
  Floor: unary(Math.floor),
  Reciprocal: unary((x) => 1 / x),
  Softplus: unary((x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))),
  IsNaN: unary(Number.isNaN, Uint8Array),
  Identity: ([a]) => [a],
  Clip: clip,
  Cast: cast,
};
