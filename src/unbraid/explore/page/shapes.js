// Operators that move values about without changing them.
import { axisOf, broadcastDims, broadcastStrides, like, size, strides, walk, whole } from "./tensor.js";

const MOST = 2 ** 31 - 1;

function reshape([a, shape], { allowzero = 0 }) {
  const dims = [...shape.data].map((d, i) => (d === 0 && !allowzero ? a.dims[i] : d));
  const open = dims.indexOf(-1);
  if (open >= 0) dims[open] = a.data.length / -size(dims);
  return [{ dims, data: a.data }];
}

function flatten([a], { axis = 1 }) {
  const at = axisOf(axis, a.dims.length);
  return [{ dims: [size(a.dims.slice(0, at)), size(a.dims.slice(at))], data: a.data }];
}

function transpose([a], { perm }) {
  const order = perm || a.dims.map((_, i) => a.dims.length - 1 - i);
  const own = strides(a.dims);
  const dims = order.map((i) => a.dims[i]);
  const out = like(a.data, a.data.length);
  walk(dims, [order.map((i) => own[i])], (k, at) => { out[k] = a.data[at[0]]; });
  return [{ dims, data: out }];
}

function unsqueeze([a, axes]) {
  const rank = a.dims.length + axes.data.length;
  const added = new Set([...axes.data].map((i) => axisOf(i, rank)));
  const rest = [...a.dims];
  return [{ dims: Array.from({ length: rank }, (_, i) => (added.has(i) ? 1 : rest.shift())), data: a.data }];
}

function squeeze([a, axes]) {
  const gone = axes && new Set([...axes.data].map((i) => axisOf(i, a.dims.length)));
  return [{ dims: a.dims.filter((d, i) => (gone ? !gone.has(i) : d !== 1)), data: a.data }];
}

function concat(inputs, { axis }) {
  const at = axisOf(axis, inputs[0].dims.length);
  const dims = [...inputs[0].dims];
  dims[at] = inputs.reduce((sum, t) => sum + t.dims[at], 0);
  const out = like(inputs[0].data, size(dims));
  const outer = size(dims.slice(0, at));
  for (let o = 0, to = 0; o < outer; o++)
    for (const t of inputs) {
      const n = t.data.length / outer;
      out.set(t.data.subarray(o * n, (o + 1) * n), to);
      to += n;
    }
  return [{ dims, data: out }];
}

function split([a, sizes], { axis = 0, num_outputs: count }, outputs) {
  const at = axisOf(axis, a.dims.length);
  const parts = count || outputs;
  const even = Math.ceil(a.dims[at] / parts);
  const each = sizes ? [...sizes.data] : Array.from({ length: parts }, (_, i) => Math.min(even, a.dims[at] - i * even));
  const outer = size(a.dims.slice(0, at)), inner = size(a.dims.slice(at + 1)), row = a.dims[at] * inner;
  let start = 0;
  return each.map((n) => {
    const data = like(a.data, outer * n * inner);
    for (let o = 0; o < outer; o++)
      data.set(a.data.subarray(o * row + start * inner, o * row + (start + n) * inner), o * n * inner);
    start += n;
    return { dims: a.dims.map((d, i) => (i === at ? n : d)), data };
  });
}

function slice([a, starts, ends, axes, steps]) {
  const dims = [...a.dims], own = strides(a.dims), by = [...own];
  let from = 0;
  starts.data.forEach((start, i) => {
    const at = axisOf(axes ? axes.data[i] : i, a.dims.length);
    const step = steps ? steps.data[i] : 1, n = a.dims[at];
    const fix = (v, low, high) => Math.min(Math.max(v < 0 ? v + n : v, low), high);
    const first = step > 0 ? fix(start, 0, n) : fix(start, 0, n - 1);
    const last = step > 0 ? fix(Math.min(ends.data[i], MOST), 0, n) : fix(ends.data[i] < -n ? -n - 1 : ends.data[i], -1, n - 1);
    dims[at] = Math.max(0, Math.ceil((last - first) / step));
    by[at] = own[at] * step;
    from += first * own[at];
  });
  const out = like(a.data, size(dims));
  walk(dims, [by], (k, at) => { out[k] = a.data[from + at[0]]; });
  return [{ dims, data: out }];
}

function gather([a, index], { axis = 0 }) {
  const at = axisOf(axis, a.dims.length), n = a.dims[at];
  const outer = size(a.dims.slice(0, at)), inner = size(a.dims.slice(at + 1));
  const out = like(a.data, outer * index.data.length * inner);
  for (let o = 0, to = 0; o < outer; o++)
    for (const i of index.data) {
      const from = (o * n + (i < 0 ? i + n : i)) * inner;
      out.set(a.data.subarray(from, from + inner), to);
      to += inner;
    }
  return [{ dims: [...a.dims.slice(0, at), ...index.dims, ...a.dims.slice(at + 1)], data: out }];
}

// Where each row of indices points to, and how many values lie there.
function places(dims, index, skip = 0) {
  const depth = index.dims.at(-1), own = strides(dims);
  const inner = size(dims.slice(skip + depth));
  const at = [];
  for (let k = 0; k < index.data.length; k += depth) {
    let from = 0;
    for (let j = 0; j < depth; j++) {
      const i = index.data[k + j];
      from += (i < 0 ? i + dims[skip + j] : i) * own[skip + j];
    }
    at.push(from);
  }
  return [at, inner];
}

function gatherND([a, index], { batch_dims: batch = 0 }) {
  const [at, inner] = places(a.dims, index, batch);
  const samples = size(a.dims.slice(0, batch)), each = at.length / samples, step = a.data.length / samples;
  const out = like(a.data, at.length * inner);
  at.forEach((from, k) => {
    const start = from + (batch ? Math.floor(k / each) * step : 0);
    out.set(a.data.subarray(start, start + inner), k * inner);
  });
  return [{ dims: [...index.dims.slice(0, -1), ...a.dims.slice(batch + index.dims.at(-1))], data: out }];
}

function scatterND([a, index, updates], { reduction = "none" }) {
  if (reduction !== "none") throw new Error(`ScatterND with reduction ${reduction} is not supported`);
  const [at, inner] = places(a.dims, index);
  const out = a.data.slice();
  at.forEach((to, k) => out.set(updates.data.subarray(k * inner, (k + 1) * inner), to));
  return [{ dims: a.dims, data: out }];
}

function expand([a, shape]) {
  const dims = broadcastDims(a.dims, [...shape.data]);
  const out = like(a.data, size(dims));
  walk(dims, [broadcastStrides(a.dims, dims)], (k, at) => { out[k] = a.data[at[0]]; });
  return [{ dims, data: out }];
}

function constantOfShape([shape], { value }) {
  const filled = value || { data: new Float32Array(1) };
  const dims = [...shape.data];
  return [{ dims, data: like(filled.data, size(dims)).fill(filled.data[0]) }];
}

// Values around an array: a constant, or those of its edge; negative numbers cut off. Axis by axis is simple and enough.
function pad([a, pads, value, axes], { mode = "constant" }) {
  if (mode !== "constant" && mode !== "edge") throw new Error(`Pad with mode ${mode} is not supported`);
  const filler = value && value.data.length ? value.data[0] : 0;
  const chosen = axes ? [...axes.data].map((i) => axisOf(i, a.dims.length)) : a.dims.map((_, i) => i);
  let now = a;
  chosen.forEach((axis, i) => {
    const before = pads.data[i], after = pads.data[i + chosen.length], n = now.dims[axis];
    if (!before && !after) return;
    const dims = now.dims.map((d, j) => (j === axis ? d + before + after : d));
    const outer = size(dims.slice(0, axis)), inner = size(dims.slice(axis + 1));
    const out = like(now.data, size(dims));
    for (let o = 0, to = 0; o < outer; o++)
      for (let k = -before; k < n + after; k++, to += inner) {
        const inside = k >= 0 && k < n;
        const from = (o * n + (k < 0 ? 0 : Math.min(k, n - 1))) * inner;
        if (inside || mode === "edge") out.set(now.data.subarray(from, from + inner), to);
        else out.fill(filler, to, to + inner);
      }
    now = { dims, data: out };
  });
  return [now];
}

export const SHAPES = {
  Reshape: reshape,
  Flatten: flatten,
  Transpose: transpose,
  Unsqueeze: unsqueeze,
  Squeeze: squeeze,
  Concat: concat,
  Split: split,
  Slice: slice,
  Gather: gather,
  GatherND: gatherND,
  ScatterND: scatterND,
  Expand: expand,
  Pad: pad,
  ConstantOfShape: constantOfShape,
  Shape: ([a], { start = 0, end }) => [whole(a.dims.slice(start, end))],
};
