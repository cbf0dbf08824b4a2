// Operators that change the number of places of maps [sample, channel, height, width].
import { floats } from "./tensor.js";

// Channels become places: blocksize² channels make one, at blocksize times the height and width.
function depthToSpace([x], { blocksize: b, mode = "DCR" }) {
  const [samples, channels, h, w] = x.dims;
  const left = channels / (b * b), height = h * b, width = w * b;
  const out = floats([samples, left, height, width]);
  for (let s = 0, k = 0; s < samples; s++)
    for (let c = 0; c < left; c++)
      for (let i = 0; i < height; i++)
        for (let j = 0; j < width; j++, k++) {
          const place = (i % b) * b + (j % b);
          const from = mode === "CRD" ? c * b * b + place : place * left + c;
          out.data[k] = x.data[((s * channels + from) * h + Math.floor(i / b)) * w + Math.floor(j / b)];
        }
  return [out];
}

function averagePool([x], a) {
  const { kernel_shape: [kh, kw], strides: [sh, sw] = [1, 1], pads: [top, left, bottom, right] = [0, 0, 0, 0] } = a;
  if (a.ceil_mode || (a.auto_pad && a.auto_pad !== "NOTSET")) throw new Error("only explicit pads are supported");
  const [samples, channels, h, w] = x.dims;
  const height = Math.floor((h + top + bottom - kh) / sh) + 1, width = Math.floor((w + left + right - kw) / sw) + 1;
  const out = floats([samples, channels, height, width]);
  for (let m = 0, k = 0; m < samples * channels; m++)
    for (let i = 0; i < height; i++)
      for (let j = 0; j < width; j++, k++) {
        let sum = 0, count = 0;
        for (let y = Math.max(0, i * sh - top); y < Math.min(h, i * sh - top + kh); y++)
          for (let z = Math.max(0, j * sw - left); z < Math.min(w, j * sw - left + kw); z++, count++)
            sum += x.data[(m * h + y) * w + z];
        out.data[k] = sum / (a.count_include_pad ? kh * kw : count);
      }
  return [out];
}

// For every place along one axis: the two old places that it lies between, and how near the second is.
function between(from, to, scale, { coordinate_transformation_mode: how = "half_pixel", mode = "nearest" }) {
  const low = new Int32Array(to), high = new Int32Array(to), share = new Float32Array(to);
  for (let i = 0; i < to; i++) {
    let at;
    if (how === "asymmetric") at = i / scale;
    else if (how === "align_corners") at = to > 1 ? (i * (from - 1)) / (to - 1) : 0;
    else if (how === "half_pixel" || how === "pytorch_half_pixel")
      at = how === "half_pixel" || to > 1 ? (i + 0.5) / scale - 0.5 : 0;
    else throw new Error(`coordinates by ${how} are not supported`);
    at = Math.min(Math.max(at, 0), from - 1);
    low[i] = mode === "nearest" ? Math.floor(at) : Math.min(Math.floor(at), from - 1);
    high[i] = Math.min(low[i] + 1, from - 1);
    share[i] = mode === "nearest" ? 0 : at - low[i];
  }
  return { low, high, share };
}

function resize([x, , scales, sizes], attributes) {
  const { mode = "nearest", nearest_mode: rounding = "round_prefer_floor", antialias, axes } = attributes;
  if (antialias || axes || !["nearest", "linear"].includes(mode)) throw new Error(`mode ${mode} is not supported here`);
  if (mode === "nearest" && rounding !== "floor") throw new Error(`nearest places by ${rounding} are not supported`);
  const given = sizes?.data.length ? [...sizes.data] : x.dims.map((d, i) => Math.floor(d * scales.data[i]));
  const [samples, channels, h, w] = x.dims, [, , height, width] = given;
  if (given[0] !== samples || given[1] !== channels) throw new Error("only height and width can change");
  const by = (i) => (sizes?.data.length ? given[i] / x.dims[i] : scales.data[i]);
  const rows = between(h, height, by(2), attributes), columns = between(w, width, by(3), attributes);
  const out = floats(given);
  for (let m = 0, k = 0; m < samples * channels; m++)
    for (let i = 0; i < height; i++) {
      const a = (m * h + rows.low[i]) * w, b = (m * h + rows.high[i]) * w, down = rows.share[i];
      for (let j = 0; j < width; j++, k++) {
        const l = columns.low[j], r = columns.high[j], along = columns.share[j];
        const upper = x.data[a + l] * (1 - along) + x.data[a + r] * along;
        const lower = x.data[b + l] * (1 - along) + x.data[b + r] * along;
        out.data[k] = upper * (1 - down) + lower * down;
      }
    }
  return [out];
}

export const RESAMPLING = { DepthToSpace: depthToSpace, AveragePool: averagePool, Resize: resize };
