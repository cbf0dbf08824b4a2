// A traversal of the chosen code as a strip of pictures, drawn when nothing else moves, and saved as a PNG or a GIF.
import { byId, download, element, round } from "./format.js";
import { colour, drawImage, drawMoved, drawVector, seriesColours, showsBars } from "./drawing.js";
import { encodeGif } from "./gif.js";

// LEAST: pixels of a frame in the saved picture; on a narrow screen, fewer frames can still be seen.
const WIDE = 9, NARROW = 5, PAUSE = 250, GAP = 4, LEAST = 128;
const MOVES = 15, DELAY = 9, REST = 45; // of a GIF: values, and hundredths of a second for each and at both ends

export function buildStrip(state, ask) {
  const canvas = byId("strip");
  let turn = 0, wait = 0;
  const { model } = state, isImage = model.data.kind === "image";

  // What the chosen code does from one end to the other; null if something else has moved meanwhile.
  async function frames(count, isStale) {
    const { stage, index } = state.selected;
    const { low, high } = state.code(stage, index);
    const base = state.codes.map((c) => c.slice());
    const made = [];
    for (let i = 0; i < count; i++) {
      const codes = base.map((c) => c.slice());
      codes[stage][index] = low + ((high - low) * i) / (count - 1);
      const { outputs } = await ask("decode", { codes });
      if (isStale()) return null;
      made.push(outputs);
    }
    return { made, stage, index, low, high };
  }

  function one(series, width, height) {
    const frame = element("canvas");
    if (isImage) drawImage(frame, series.at(-1), model.data.shape);
    else drawVector(frame, lines(series), model, { width, height });
    return frame;
  }

  function lines(series) {
    const colours = seriesColours(series.length + 1).slice(1);
    return series.map((values, i) => ({ values, stroke: colours[i], dash: i < series.length - 1 ? [5, 4] : null }));
  }

  function paint(target, { made }, width, height) {
    if (!isImage && showsBars(state.model.data)) {
      const across = Math.max(320, target.isConnected ? target.getBoundingClientRect().width : 4 * width);
      drawMoved(target, made.map((outputs) => outputs.at(-1)), state.model, across);
      return;
    }
    target.width = made.length * (width + GAP) - GAP;
    target.height = height;
    const context = target.getContext("2d");
    context.imageSmoothingQuality = "high";
    made.forEach((outputs, i) => context.drawImage(one(outputs.slice(-1), width, height), i * (width + GAP), 0, width, height));
  }

  function shape(least) {
    if (!isImage) return [least, least];
    const [, height, width] = model.data.shape;
    const times = Math.max(1, Math.ceil(least / Math.max(height, width)));
    return [width * times, height * times];
  }

  // One frame of the GIF: the code's name and place above, what every stage from its own on makes below.
  function scene(context, { made, stage, index, low, high }, i) {
    const outputs = made[i].slice(stage), space = 14, top = 58;
    const [width, height] = isImage ? shape(2 * LEAST) : [560, 320];
    const across = isImage ? outputs.length : 1;
    const whole = across * (width + space) + space;
    Object.assign(context.canvas, { width: whole, height: top + height + space });
    context.fillStyle = colour("--card");
    context.fillRect(0, 0, whole, context.canvas.height);
    context.fillStyle = colour("--ink");
    context.font = `600 17px ${getComputedStyle(document.body).fontFamily}`;
    context.fillText(state.name(stage, index), space, 26, whole - 2 * space - 60);
    const share = i / (made.length - 1), from = space + 5, to = whole - space - 5;
    context.fillStyle = colour("--line");
    context.fillRect(from, 40, to - from, 3);
    context.fillStyle = colour("--accent");
    context.beginPath();
    context.arc(from + share * (to - from), 41.5, 6, 0, 7);
    context.fill();
    context.font = `14px ${getComputedStyle(document.body).fontFamily}`;
    context.fillStyle = colour("--soft");
    context.textAlign = "right";
    context.fillText(round(low + share * (high - low)), whole - space, 26);
    context.textAlign = "left";
    if (isImage) context.imageSmoothingEnabled = Math.max(...model.data.shape.slice(1)) > LEAST / 2;
    for (let k = 0; k < across; k++) {
      const shown = isImage ? one([outputs[k]], width, height) : one(outputs, width, height);
      context.drawImage(shown, space + k * (width + space), top, width, height);
    }
    return context.getImageData(0, 0, context.canvas.width, context.canvas.height).data;
  }

  async function show() {
    const now = ++turn;
    const found = await frames(innerWidth < 600 ? NARROW : WIDE, () => turn !== now);
    if (!found) return;
    paint(canvas, found, ...shape(LEAST));
    const of = found.stage === state.main ? "" : ` of ${state.stages[found.stage].method}`;
    const name = state.name(found.stage, found.index) + of;
    byId("strip-title").textContent = `${name}, from ${round(found.low)} to ${round(found.high)}`;
    canvas.setAttribute("aria-label", `What changes as ${name} goes from ${round(found.low)} to ${round(found.high)}`);
  }

  const soon = () => {
    turn++;
    clearTimeout(wait);
    wait = setTimeout(() => show().catch(() => {}), PAUSE); // the views say what is wrong
  };
  async function save(count, suffix, make) {
    const found = await frames(count, () => false); // as it was when it was asked for, whatever moves now
    const name = state.name(found.stage, found.index);
    download(`${name.replace(/[^\p{L}\p{N}-]+/gu, "-")}.${suffix}`, await make(found));
  }
  byId("save-strip").addEventListener("click", () => save(WIDE, "png", (found) => {
    const picture = element("canvas");
    paint(picture, found, ...shape(2 * LEAST));
    return new Promise((resolve) => picture.toBlob(resolve));
  }));
  byId("save-gif").addEventListener("click", () => save(MOVES, "gif", (found) => {
    const context = element("canvas").getContext("2d", { willReadFrequently: true });
    const forth = found.made.map((_, i) => scene(context, found, i)), back = forth.slice(1, -1).reverse();
    const delays = [...forth, ...back].map((_, i) => (i === 0 || i === forth.length - 1 ? REST : DELAY));
    return encodeGif([...forth, ...back], context.canvas.width, context.canvas.height, delays);
  }));
  state.on((what) => (what === "codes" || what === "selected" || what === "names") && soon());
  soon();
}
