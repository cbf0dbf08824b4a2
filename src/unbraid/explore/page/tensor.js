// Tensors: {dims, data}, with data a Float32Array (numbers), an Int32Array (whole numbers) or a Uint8Array (booleans).

export function size(dims) {
  let n = 1;
  for (const d of dims) n *= d;
  return n;
}

export function strides(dims) {
  const out = new Array(dims.length);
  let step = 1;
  for (let i = dims.length - 1; i >= 0; i--) {
    out[i] = step;
    step *= dims[i];
  }
  return out;
}

export const floats = (dims, data) => ({ dims, data: data || new Float32Array(size(dims)) });
export const whole = (values) => ({ dims: [values.length], data: Int32Array.from(values) });
export const like = (data, n) => new data.constructor(n);
export const axisOf = (axis, rank) => (axis < 0 ? axis + rank : axis);

export function broadcastDims(a, b) {
  const rank = Math.max(a.length, b.length);
  const out = new Array(rank);
  for (let i = 0; i < rank; i++) {
    const x = a[i - rank + a.length] ?? 1;
    const y = b[i - rank + b.length] ?? 1;
    if (x !== y && x !== 1 && y !== 1) throw new Error(`shapes ${a} and ${b} do not fit`);
    out[i] = x === 1 ? y : x;
  }
  return out;
}

// Strides by which a tensor of these dims is read as one of the larger dims `to`: 0 where it repeats.
export function broadcastStrides(dims, to) {
  const own = strides(dims);
  return to.map((_, i) => {
    const j = i - to.length + dims.length;
    return j < 0 || dims[j] === 1 ? 0 : own[j];
  });
}

// Calls `visit(position in out, offsets...)` for every element of `dims`, reading each source by its own strides.
export function walk(dims, sources, visit) {
  const rank = dims.length;
  const n = size(dims);
  const index = new Int32Array(rank);
  const at = new Int32Array(sources.length);
  for (let k = 0; k < n; k++) {
    visit(k, at);
    for (let d = rank - 1; d >= 0; d--) {
      index[d]++;
      for (let s = 0; s < at.length; s++) at[s] += sources[s][d];
      if (index[d] < dims[d]) break;
      for (let s = 0; s < at.length; s++) at[s] -= sources[s][d] * dims[d];
      index[d] = 0;
    }
  }
}
