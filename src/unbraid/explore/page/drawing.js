// Observations on canvases: images pixel by pixel, vectors as curves, or as bars where values have names.
import { round } from "./format.js";
import { inUnits, likeliest, tableColumns } from "./columns.js";

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
  const columns = tableColumns(data), row = (height - 2 * top) / columns.length;
  const [left, right] = labelled ? margins(context, columns, width) : [2, 2], span = width - left - right - 8;
  columns.forEach((column, i) => {
    const middle = top + (i + 0.5) * row, thick = Math.min(12, row * 0.5), last = series.at(-1);
    if (column.categories.length) {
      const part = span / column.categories.length;
      const mark = ({ values, stroke }, high) => {
        context.fillStyle = stroke;
        context.fillRect(left + 8 + likeliest(values, column, data) * part, middle - high / 2, Math.max(2, part - 2), high);
      };
      context.fillStyle = colour("--line");
      column.categories.forEach((_, k) => context.fillRect(left + 8 + k * part, middle - 0.5, Math.max(2, part - 2), 1));
      series.slice(0, -1).forEach((one) => mark(one, thick + 6));
      mark(last, thick);
    } else numberBar(context, series, column.first, observations, [left + 8, span, middle, thick]);
    if (!labelled || row < 9) return;
    context.fillStyle = colour("--ink");
    context.textAlign = "right";
    context.fillText(column.name, left, middle + 4, left - 8);
    context.fillStyle = colour("--soft");
    context.fillText(inUnits(last.values, column, data), width - 14, middle + 4, right - 14);
    context.textAlign = "left";
  });
}

function numberBar(context, series, i, { low, high }, [left, span, middle, thick]) {
  const x = (v) => left + Math.min(Math.max((v - low[i]) / (high[i] - low[i] || 1), 0), 1) * span;
  context.fillStyle = colour("--line");
  context.fillRect(left, middle - 0.5, span, 1);
  const last = series.at(-1);
  context.fillStyle = last.stroke;
  context.fillRect(left, middle - thick / 2, Math.max(1, x(last.values[i]) - left), thick);
  for (const { values, stroke } of series.slice(0, -1)) {
    context.fillStyle = stroke;
    context.fillRect(x(values[i]) - 1.5, middle - thick / 2 - 3, 3, thick + 6);
  }
}

// Room for names at the left and for values at the right.
function margins(context, columns, width, share = 0.4, right = 80) {
  const widest = Math.max(...columns.flatMap(({ categories }) => categories.map((t) => context.measureText(t).width)), 0);
  const names = Math.max(...columns.map(({ name }) => context.measureText(name).width));
  return [Math.min(width * share, 16 + names), Math.min(width * 0.3, Math.max(right, 28 + widest))];
}

const RAMP = ["#2f6fbf", "#8468b2", "#cd5870", "#e08e2b"]; // from a code's lowest value to its highest
const ROW = 24, MOST = 16;

// All columns in their order; of many those that change most.
function mostMoved(columns, made, { low, high }) {
  if (columns.length <= MOST) return columns;
  const change = ({ first, categories }) => Math.max(...Array.from({ length: categories.length || 1 }, (_, k) => {
    const values = made.map((vector) => vector[first + k]);
    return (Math.max(...values) - Math.min(...values)) / (high[first + k] - low[first + k] || 1);
  }));
  return columns.map((column) => [change(column), column]).sort(([a], [b]) => b - a).slice(0, MOST).map(([, column]) => column);
}

// What happens to every column of a table along a code: a dot for each step, and from where to where it goes.
export function drawMoved(canvas, made, { data, observations }, width) {
  const columns = mostMoved(tableColumns(data), made, observations), context = sized(canvas, width, columns.length * ROW);
  context.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  const [left, right] = margins(context, columns, width, 0.32, 150), span = width - left - right - 24;
  const shade = (k) => RAMP[Math.round((k / Math.max(1, made.length - 1)) * (RAMP.length - 1))];
  columns.forEach((column, i) => {
    const middle = (i + 0.5) * ROW, start = left + 12, { first } = column;
    context.fillStyle = colour("--line");
    context.fillRect(start, middle - 0.5, span, 1);
    made.forEach((values, k) => {
      const share = column.categories.length
        ? (likeliest(values, column, data) + 0.5) / column.categories.length
        : (values[first] - observations.low[first]) / (observations.high[first] - observations.low[first] || 1);
      context.fillStyle = shade(k);
      context.beginPath();
      context.arc(start + Math.min(Math.max(share, 0), 1) * span, middle, 4, 0, 2 * Math.PI);
      context.fill();
    });
    context.textAlign = "right";
    context.fillStyle = colour("--ink");
    context.fillText(column.name, left, middle + 4, left - 8);
    context.textAlign = "left";
    context.fillStyle = colour("--soft");
    const ends = [made[0], made.at(-1)].map((values) => inUnits(values, column, data));
    context.fillText(ends.join(" → "), width - right + 4, middle + 4, right - 6);
  });
}
