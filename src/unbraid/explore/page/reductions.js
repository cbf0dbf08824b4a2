// Operators that look along an axis: normalisations, softmax, sums.
import { axisOf, floats, like, size } from "./tensor.js";

function split(dims, axis) {
  const at = axisOf(axis, dims.length);
  return [size(dims.slice(0, at)), dims[at], size(dims.slice(at + 1))];
}

function softmax(log) {
  return ([a], { axis = -1 }) => {
    const [outer, n, inner] = split(a.dims, axis);
    const out = floats(a.dims);
    for (let o = 0; o < outer; o++)
      for (let i = 0; i < inner; i++) {
        const at = o * n * inner + i;
        let most = -Infinity, sum = 0;
        for (let k = 0; k < n; k++) most = Math.max(most, a.data[at + k * inner]);
        for (let k = 0; k < n; k++) sum += Math.exp(a.data[at + k * inner] - most);
        for (let k = 0; k < n; k++) {
          const v = a.data[at + k * inner] - most;
          out.data[at + k * inner] = log ? v - Math.log(sum) : Math.exp(v) / sum;
        }
      }
    return [out];
  };
}

// The mean and variance of each stretch of n values, then (x − mean)/deviation·scale + shift.
function normalise(data, out, at, n, epsilon, scale, shift) {
  let mean = 0, variance = 0;
  for (let i = 0; i < n; i++) mean += data[at + i];
  mean /= n;
  for (let i = 0; i < n; i++) variance += (data[at + i] - mean) ** 2;
  const by = 1 / Math.sqrt(variance / n + epsilon);
  for (let i = 0; i < n; i++) out[at + i] = (data[at + i] - mean) * by * scale(i) + shift(i);
}

function instanceNormalization([x, scale, shift], { epsilon = 1e-5 }) {
  const [samples, channels] = x.dims;
  const area = size(x.dims.slice(2));
  const out = floats(x.dims);
  for (let s = 0; s < samples; s++)
    for (let c = 0; c < channels; c++)
      normalise(x.data, out.data, (s * channels + c) * area, area, epsilon, () => scale.data[c], () => shift.data[c]);
  return [out];
}

function layerNormalization([x, scale, shift], { axis = -1, epsilon = 1e-5 }) {
  const n = size(x.dims.slice(axisOf(axis, x.dims.length)));
  const out = floats(x.dims);
  for (let at = 0; at < x.data.length; at += n)
    normalise(x.data, out.data, at, n, epsilon, (i) => scale.data[i], (i) => (shift ? shift.data[i] : 0));
  return [out];
}

function batchNormalization([x, scale, shift, mean, variance], { epsilon = 1e-5 }) {
  const [samples, channels] = x.dims;
  const area = size(x.dims.slice(2));
  const out = floats(x.dims);
  for (let s = 0, k = 0; s < samples; s++)
    for (let c = 0; c < channels; c++) {
      const by = scale.data[c] / Math.sqrt(variance.data[c] + epsilon);
      for (let i = 0; i < area; i++, k++) out.data[k] = (x.data[k] - mean.data[c]) * by + shift.data[c];
    }
  return [out];
}

function argMax([a], { axis = 0, keepdims = 1 }) {
  const [outer, n, inner] = split(a.dims, axis);
  const out = new Int32Array(outer * inner);
  for (let o = 0; o < outer; o++)
    for (let i = 0; i < inner; i++) {
      let best = 0;
      for (let k = 1; k < n; k++)
        if (a.data[(o * n + k) * inner + i] > a.data[(o * n + best) * inner + i]) best = k;
      out[o * inner + i] = best;
    }
  const at = axisOf(axis, a.dims.length);
  const dims = a.dims.flatMap((d, i) => (i === at ? (keepdims ? [1] : []) : [d]));
  return [{ dims, data: out }];
}

function reduce(start, add, end) {
  return ([a, axesInput], { axes, keepdims = 1, noop_with_empty_axes: noop = 0 }) => {
    const named = axesInput ? [...axesInput.data] : axes || [];
    if (!named.length && noop) return [a];
    const over = new Set((named.length ? named : a.dims.map((_, i) => i)).map((i) => axisOf(i, a.dims.length)));
    const kept = a.dims.map((d, i) => (over.has(i) ? 1 : d));
    const out = like(a.data, size(kept)).fill(start);
    const steps = [];
    let step = 1;
    for (let i = kept.length - 1; i >= 0; i--) {
      steps[i] = over.has(i) ? 0 : step;
      step *= kept[i];
    }
    const index = new Int32Array(a.dims.length);
    for (let k = 0, at = 0; k < a.data.length; k++) {
      out[at] = add(out[at], a.data[k]);
      for (let d = a.dims.length - 1; d >= 0; d--) {
        at += steps[d];
        if (++index[d] < a.dims[d]) break;
        at -= steps[d] * a.dims[d];
        index[d] = 0;
      }
    }
    const count = a.data.length / out.length;
    for (let i = 0; i < out.length; i++) out[i] = end(out[i], count);
    return [{ dims: keepdims ? kept : kept.filter((_, i) => !over.has(i)), data: out }];
  };
}

export const REDUCTIONS = {
  Softmax: softmax(false),
  LogSoftmax: softmax(true),
  InstanceNormalization: instanceNormalization,
  LayerNormalization: layerNormalization,
  BatchNormalization: batchNormalization,
  ArgMax: argMax,
  ReduceSum: reduce(0, (s, v) => s + v, (s) => s),
  ReduceMean: reduce(0, (s, v) => s + v, (s, n) => s / n),
  ReduceMax: reduce(-Infinity, (s, v) => Math.max(s, v), (s) => s),
};
