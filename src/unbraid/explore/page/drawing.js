// Observations on canvases: images pixel by pixel, vectors as curves, or as bars where values have names.
import { round } from "./format.js";

export function drawImage(canvas, values, [channels, height, width]) {
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(width, height);
  const area = width * height;
  for (let p = 0; p < area; p++) {
    for (let c = 0; c < 3; c++) image.data[4 * p + c] = Math.round(255 * values[(channels >= 3 ? c : 0) * area + p]);
    image.data[4 * p + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function seriesColours(count) {
  const between = Array.from({ length: count - 2 }, () => colour("--soft"));
  return [colour("--faint"), ...between, colour("--accent")];
}

export const showsBars = (data) => Boolean(data.values) || data.shape[0] <= 12;

function sized(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return context;
}

// series: [{values, colour, dash}], drawn one over another within the range of the data.
export function drawVector(canvas, series, model, box = canvas.getBoundingClientRect()) {
  const context = sized(canvas, box.width, box.height);
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  if (showsBars(model.data)) bars(context, series, model, box);
  else curves(context, series, model, box);
}

function curves(context, series, { observations }, { width, height }) {
  const low = Math.min(...observations.low), high = Math.max(...observations.high), room = 0.08 * (high - low || 1);
  const labelled = width > 200;
  const left = labelled ? 44 : 2, bottom = labelled ? 22 : 2;
  const y = (v) => height - bottom - ((v - low + room) / (high - low + 2 * room)) * (height - bottom - 6);
  const n = series[0].values.length;
  const x = (i) => left + (i / (n - 1)) * (width - left - 8);
  if (labelled) {
    context.fillStyle = colour("--soft");
    context.strokeStyle = colour("--line");
    for (const v of [low, (low + high) / 2, high]) {
      context.fillText(round(v), 6, y(v) + 4);
      context.beginPath();
      context.moveTo(left, y(v));
      context.lineTo(width - 8, y(v));
      context.stroke();
    }
    for (const i of [0, Math.floor((n - 1) / 2), n - 1]) {
      context.textAlign = i === 0 ? "left" : i === n - 1 ? "right" : "center";
      context.fillText(String(i + 1), x(i), height - 6);
    }
    context.textAlign = "left";
  }
  for (const { values, stroke, dash } of series) {
    context.strokeStyle = stroke;
    context.lineWidth = 2;
    context.setLineDash(dash || []);
    context.beginPath();
    values.forEach((v, i) => (i ? context.lineTo(x(i), y(v)) : context.moveTo(x(i), y(v))));
    context.stroke();
  }
  context.setLineDash([]);
}

// Every value has a range of its own, and its name and units where the table has them.
function bars(context, series, { data, observations }, { width, height }) {
  const labelled = width > 200, top = labelled ? 8 : 0;
  const n = series[0].values.length, row = (height - 2 * top) / n;
  const names = data.values || Array.from({ length: n }, (_, i) => `value ${i + 1}`);
  const left = labelled ? Math.min(width * 0.4, 16 + Math.max(...names.map((t) => context.measureText(t).width))) : 2;
  const right = labelled ? 80 : 2, span = width - left - right - 8;
  names.forEach((name, i) => {
    const low = observations.low[i], high = observations.high[i];
    const x = (v) => left + 8 + Math.min(Math.max((v - low) / (high - low || 1), 0), 1) * span;
    const middle = top + (i + 0.5) * row, thick = Math.min(12, row * 0.5);
    context.fillStyle = colour("--line");
    context.fillRect(left + 8, middle - 0.5, span, 1);
    const last = series.at(-1);
    context.fillStyle = last.stroke;
    context.fillRect(left + 8, middle - thick / 2, Math.max(1, x(last.values[i]) - left - 8), thick);
    for (const { values, stroke } of series.slice(0, -1)) {
      context.fillStyle = stroke;
      context.fillRect(x(values[i]) - 1.5, middle - thick / 2 - 3, 3, thick + 6);
    }
    if (!labelled) return;
    context.fillStyle = colour("--ink");
    context.textAlign = "right";
    context.fillText(name, left, middle + 4, left - 8);
    context.fillStyle = colour("--soft");
    context.fillText(inUnits(last.values[i], i, data), width - 14, middle + 4);
    context.textAlign = "left";
  });
}

// Tables are learnt from with mean 0 and deviation 1; people think in their own units.
export function inUnits(value, i, { mean, scale }) {
  const own = mean ? value * scale[i] + mean[i] : value;
  return own.toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");
}
