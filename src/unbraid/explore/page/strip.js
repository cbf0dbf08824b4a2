// A traversal of the chosen code as a strip of pictures, drawn when nothing else moves, and saved as a PNG.
import { byId, download, element, round } from "./format.js";
import { drawImage, drawMoved, drawVector, seriesColours, showsBars } from "./drawing.js";

// LEAST: pixels of a frame in the saved picture; on a narrow screen, fewer frames can still be seen.
const WIDE = 9, NARROW = 5, PAUSE = 250, GAP = 4, LEAST = 128;

export function buildStrip(state, ask) {
  const canvas = byId("strip");
  let turn = 0, wait = 0;
  const isImage = state.model.data.kind === "image";

  async function frames(turnNow, count = innerWidth < 600 ? NARROW : WIDE) {
    const { stage, index } = state.selected;
    const { low, high } = state.code(stage, index);
    const base = state.codes.map((c) => c.slice());
    const made = [];
    for (let i = 0; i < count; i++) {
      const codes = base.map((c) => c.slice());
      codes[stage][index] = low + ((high - low) * i) / (count - 1);
      const { outputs } = await ask("decode", { codes });
      if (turn !== turnNow) return null;
      made.push(outputs.at(-1));
    }
    return { made, stage, index, low, high };
  }

  function one(values, width, height) {
    const frame = element("canvas");
    if (isImage) drawImage(frame, values, state.model.data.shape);
    else drawVector(frame, [{ values, stroke: seriesColours(2)[1] }], state.model, { width, height });
    return frame;
  }

  function paint(target, { made }, width, height) {
    if (!isImage && showsBars(state.model.data)) {
      const across = Math.max(320, target.isConnected ? target.getBoundingClientRect().width : 4 * width);
      drawMoved(target, made, state.model, across);
      return;
    }
    target.width = made.length * (width + GAP) - GAP;
    target.height = height;
    const context = target.getContext("2d");
    context.imageSmoothingQuality = "high";
    made.forEach((values, i) => context.drawImage(one(values, width, height), i * (width + GAP), 0, width, height));
  }

  function shape(least) {
    if (!isImage) return [least, least];
    const [, height, width] = state.model.data.shape;
    const times = Math.max(1, Math.ceil(least / Math.max(height, width)));
    return [width * times, height * times];
  }

  async function show() {
    const found = await frames(++turn);
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
    wait = setTimeout(show, PAUSE);
  };
  byId("save-strip").addEventListener("click", async () => {
    const found = await frames(++turn, WIDE);
    if (!found) return;
    const picture = element("canvas");
    paint(picture, found, ...shape(2 * LEAST));
    const name = state.name(found.stage, found.index);
    picture.toBlob((blob) => download(`${name.replace(/[^\p{L}\p{N}-]+/gu, "-")}.png`, blob));
    soon();
  });
  state.on((what) => (what === "codes" || what === "selected" || what === "names") && soon());
  soon();
}
