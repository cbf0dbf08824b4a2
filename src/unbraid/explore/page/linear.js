// Matrix products and the convolutions that are made of them.
import { broadcastDims, floats, size, strides, broadcastStrides } from "./tensor.js";

// c[m, n] += a[m, k] · b[k, n], four rows of b at a time so that c is read and written a quarter as often.
export function multiply(m, n, k, a, b, c, aAt = 0, bAt = 0, cAt = 0) {
  for (let i = 0; i < m; i++) {
    const row = cAt + i * n;
    let p = 0;
    for (; p + 3 < k; p += 4) {
      const at = aAt + i * k + p;
      const a0 = a[at], a1 = a[at + 1], a2 = a[at + 2], a3 = a[at + 3];
      const b0 = bAt + p * n, b1 = b0 + n, b2 = b1 + n, b3 = b2 + n;
      for (let j = 0; j < n; j++) c[row + j] += a0 * b[b0 + j] + a1 * b[b1 + j] + a2 * b[b2 + j] + a3 * b[b3 + j];
    }
    for (; p < k; p++) {
      const a0 = a[aAt + i * k + p];
      const b0 = bAt + p * n;
      for (let j = 0; j < n; j++) c[row + j] += a0 * b[b0 + j];
    }
  }
}

// c[m, n] += a[m, k] · b[n, k]ᵀ: both are read along their rows.
function multiplyRows(m, n, k, a, b, c) {
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0, p = 0;
      const x = i * k, y = j * k;
      for (; p + 3 < k; p += 4) {
        s0 += a[x + p] * b[y + p];
        s1 += a[x + p + 1] * b[y + p + 1];
        s2 += a[x + p + 2] * b[y + p + 2];
        s3 += a[x + p + 3] * b[y + p + 3];
      }
      for (; p < k; p++) s0 += a[x + p] * b[y + p];
      c[i * n + j] += s0 + s1 + s2 + s3;
    }
  }
}

function turned(rows, columns, data, at = 0) {
  const out = new Float32Array(rows * columns);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = data[at + i * columns + j];
  return out;
}

export function gemm([a, b, c], { alpha = 1, beta = 1, transA = 0, transB = 0 }) {
  const m = a.dims[transA ? 1 : 0], k = a.dims[transA ? 0 : 1], n = b.dims[transB ? 0 : 1];
  const left = transA ? turned(k, m, a.data) : a.data;
  const out = floats([m, n]);
  if (transB) multiplyRows(m, n, k, left, b.data, out.data);
  else multiply(m, n, k, left, b.data, out.data);
  if (alpha !== 1) for (let i = 0; i < out.data.length; i++) out.data[i] *= alpha;
  if (c) {
    const [down, along] = broadcastStrides(c.dims, [m, n]);
    for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) out.data[i * n + j] += beta * c.data[i * down + j * along];
  }
  return [out];
}

export function matmul([a, b]) {
  const x = a.dims.length === 1 ? [1, a.dims[0]] : a.dims;
  const y = b.dims.length === 1 ? [b.dims[0], 1] : b.dims;
  const m = x.at(-2), k = x.at(-1), n = y.at(-1);
  const batch = broadcastDims(x.slice(0, -2), y.slice(0, -2));
  const out = floats([...batch, m, n]);
  const steps = [x, y].map((dims) => broadcastStrides(dims.slice(0, -2), batch));
  const count = size(batch), own = strides(batch);
  for (let s = 0; s < count; s++) {
    const at = steps.map((step) => batch.reduce((sum, d, i) => sum + (Math.floor(s / own[i]) % d) * step[i], 0));
    multiply(m, n, k, a.data, b.data, out.data, at[0] * m * k, at[1] * k * n, s * m * n);
  }
  const dims = [...batch, ...(a.dims.length === 1 ? [] : [m]), ...(b.dims.length === 1 ? [] : [n])];
  return [floats(dims, out.data)];
}

// A convolution along signals is one over images of height 1.
function plane(x, w, a) {
  const flat = x.dims.length === 3;
  const two = (values, fill) => (flat ? [fill, ...(values || [1])] : values || [fill, fill]);
  const pads = a.pads || (flat ? [0, 0] : [0, 0, 0, 0]);
  if (a.auto_pad && a.auto_pad !== "NOTSET") throw new Error(`auto_pad ${a.auto_pad} is not supported`);
  return {
    flat,
    x: flat ? [x.dims[0], x.dims[1], 1, x.dims[2]] : x.dims,
    w: flat ? [w.dims[0], w.dims[1], 1, w.dims[2]] : w.dims,
    stride: two(a.strides, 1),
    dilation: two(a.dilations, 1),
    pads: flat ? [0, pads[0], 0, pads[1]] : pads,
    extra: flat ? [0, ...(a.output_padding || [0])] : a.output_padding || [0, 0],
    group: a.group || 1,
  };
}

function result(p, dims, data) {
  return [floats(p.flat ? [dims[0], dims[1], dims[3]] : dims, data)];
}

function fillBias(out, bias, samples, channels, area) {
  if (!bias) return;
  for (let s = 0; s < samples; s++)
    for (let c = 0; c < channels; c++) out.fill(bias.data[c], (s * channels + c) * area, (s * channels + c + 1) * area);
}

// Every patch that a kernel sees as a column, [channel·kernel, place].
function patches(data, at, channels, [h, w], [kh, kw], p, [oh, ow], out) {
  const [sh, sw] = p.stride, [dh, dw] = p.dilation, [top, left] = p.pads;
  let k = 0;
  for (let c = 0; c < channels; c++)
    for (let y = 0; y < kh; y++)
      for (let x = 0; x < kw; x++)
        for (let i = 0; i < oh; i++) {
          const row = i * sh - top + y * dh;
          const from = at + (c * h + row) * w;
          for (let j = 0; j < ow; j++, k++) {
            const column = j * sw - left + x * dw;
            out[k] = row < 0 || row >= h || column < 0 || column >= w ? 0 : data[from + column];
          }
        }
}

export function conv([x, weight, bias], attributes) {
  const p = plane(x, weight, attributes);
  const [samples, channels, h, w] = p.x, [outputs, each, kh, kw] = p.w;
  const [top, left, bottom, right] = p.pads;
  const oh = Math.floor((h + top + bottom - p.dilation[0] * (kh - 1) - 1) / p.stride[0]) + 1;
  const ow = Math.floor((w + left + right - p.dilation[1] * (kw - 1) - 1) / p.stride[1]) + 1;
  const area = oh * ow, rows = each * kh * kw, per = outputs / p.group;
  const out = new Float32Array(samples * outputs * area);
  fillBias(out, bias, samples, outputs, area);
  const seen = new Float32Array(rows * area);
  for (let s = 0; s < samples; s++)
    for (let g = 0; g < p.group; g++) {
      patches(x.data, (s * channels + g * each) * h * w, each, [h, w], [kh, kw], p, [oh, ow], seen);
      multiply(per, area, rows, weight.data, seen, out, g * per * rows, 0, (s * outputs + g * per) * area);
    }
  return result(p, [samples, outputs, oh, ow], out);
}

export function convTranspose([x, weight, bias], attributes) {
  const p = plane(x, weight, attributes);
  const [samples, channels, h, w] = p.x, [, per, kh, kw] = p.w;
  const [sh, sw] = p.stride, [dh, dw] = p.dilation, [top, left, bottom, right] = p.pads;
  const oh = sh * (h - 1) + p.extra[0] + dh * (kh - 1) + 1 - top - bottom;
  const ow = sw * (w - 1) + p.extra[1] + dw * (kw - 1) + 1 - left - right;
  const each = channels / p.group, rows = per * kh * kw, outputs = per * p.group;
  const out = new Float32Array(samples * outputs * oh * ow);
  fillBias(out, bias, samples, outputs, oh * ow);
  for (let g = 0; g < p.group; g++) {
    const kernel = turnedOnce(weight, each, rows, g);
    for (let s = 0; s < samples; s++) {
      const spread = new Float32Array(rows * h * w);
      multiply(rows, h * w, each, kernel, x.data, spread, 0, (s * channels + g * each) * h * w, 0);
      let k = 0;
      for (let c = 0; c < per; c++)
        for (let y = 0; y < kh; y++)
          for (let z = 0; z < kw; z++)
            for (let i = 0; i < h; i++) {
              const row = i * sh - top + y * dh;
              const to = (((s * outputs + g * per + c) * oh) + row) * ow;
              const inside = row >= 0 && row < oh;
              for (let j = 0; j < w; j++, k++) {
                const column = j * sw - left + z * dw;
                if (inside && column >= 0 && column < ow) out[to + column] += spread[k];
              }
            }
    }
  }
  return result(p, [samples, outputs, oh, ow], out);
}

// Kernels do not change, so that each is turned once.
const turnedKernels = new WeakMap();

function turnedOnce(weight, each, rows, group) {
  const known = turnedKernels.get(weight) || [];
  turnedKernels.set(weight, known);
  known[group] ||= turned(each, rows, weight.data, group * each * rows);
  return known[group];
}

export const LINEAR = { Gemm: gemm, MatMul: matmul, Conv: conv, ConvTranspose: convTranspose };
