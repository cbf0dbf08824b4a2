// Puts the page together: unpacks the model, starts the worker, and shows what it makes.
import { byId, download, element, say } from "./format.js";
import { State } from "./state.js";
import { fromHash, toHash } from "./link.js";
import { drawImage, drawVector, seriesColours, showsBars } from "./drawing.js";
import { tableColumns } from "./columns.js";
import { buildSliders } from "./sliders.js";
import { buildPad } from "./pad.js";
import { buildMap } from "./map.js";
import { buildStrip } from "./strip.js";
import { buildOwn } from "./own.js";
import { fromText } from "./bytes.js";

const source = document.documentElement.outerHTML; // before anything is added: what «Save page» saves

const unpack = (id) => new Response(new Blob([fromText(byId(id).textContent.trim())]).stream()
  .pipeThrough(new DecompressionStream("deflate")));

function startWorker() {
  const code = new Blob([byId("worker-source").textContent], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(code));
  const waiting = new Map();
  let count = 0;
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.number);
    waiting.delete(data.number);
    if (data.error) reject(new Error(data.error));
    else resolve(data.answer);
  };
  return (kind, content) => new Promise((resolve, reject) => {
    waiting.set(++count, { resolve, reject });
    worker.postMessage({ number: count, kind, ...content });
  });
}

// The values of the observations that the page brings along: read off a sheet of pictures, or out of the block.
// Null where the page has none.
async function observationValues({ data, observations }, block) {
  if (observations.absent) return () => null;
  if (data.kind !== "image") {
    const n = data.shape[0];
    return (k) => new Float32Array(block, observations.x + 4 * n * k, n);
  }
  const { across, type, at, bytes } = observations.sprites;
  const sheet = await createImageBitmap(new Blob([new Uint8Array(block, at, bytes)], { type }));
  const [channels, height, width] = data.shape;
  const canvas = element("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return (k) => {
    context.drawImage(sheet, (k % across) * width, Math.floor(k / across) * height, width, height, 0, 0, width, height);
    const pixels = context.getImageData(0, 0, width, height).data;
    return Float32Array.from({ length: channels * height * width }, (_, i) => {
      const c = Math.floor(i / (height * width));
      return pixels[4 * (i % (height * width)) + Math.min(c, 2)] / 255;
    });
  };
}

function buildViews(state, pictures) {
  const { model } = state, { data } = model, stages = model.stages.length;
  const kinds = [["x", "observation"]];
  if (stages > 1) model.stages.slice(0, -1).forEach((stage, k) => kinds.push([stages > 2 ? `y${k + 1}` : "y", stage.method]));
  kinds.push(["x̂", model.stages.at(-1).method]);
  const views = byId("views");
  const original = () => {
    if (state.start?.own) return state.start.own;
    return state.start ? pictures(state.start.observation) : null;
  };
  if (data.kind === "image") {
    const figures = kinds.map(([letter, name]) => {
      const canvas = element("canvas", { role: "img", "aria-label": `${letter}: ${name}` });
      return element("figure", {}, element("figcaption", {}, element("b", {}, letter), name), canvas);
    });
    figures.forEach((figure, i) => { figure.dataset.view = i === 0 ? "x" : String(i); });
    views.append(...figures);
    const blank = new Float32Array(data.shape.reduce((a, b) => a * b)).fill(0.5);
    return (outputs) => {
      const x = original();
      figures[0].classList.toggle("absent", !x);
      [x || blank, ...outputs].forEach((values, i) => drawImage(figures[i].querySelector("canvas"), values, data.shape));
    };
  }
  views.classList.add("plot");
  const canvas = element("canvas", { role: "img", "aria-label": "The observation and what the model makes" });
  if (showsBars(data)) canvas.style.minHeight = `${Math.min(720, 18 * tableColumns(data).length)}px`; // names can be read
  const caption = element("figcaption");
  views.append(element("figure", { "data-view": "all" }, caption, canvas));
  let last = null;
  const show = (outputs) => {
    last = outputs;
    const colours = seriesColours(kinds.length), x = original();
    caption.replaceChildren(...kinds.flatMap(([letter, name], i) =>
      [element("i", { style: `border-color:${colours[i]}` }), element("b", {}, letter), name]));
    const all = [x, ...outputs].map((values, i) => ({ values, stroke: colours[i], dash: i && i < outputs.length ? [5, 4] : null }));
    drawVector(canvas, all.filter(({ values }) => values), model);
  };
  addEventListener("resize", () => last && show(last));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => last && show(last));
  return show;
}

function buildClasses(state) {
  for (const { name, values, first, modes } of state.stages[0].classes || []) {
    const set = element("fieldset", {}, element("legend", {}, name));
    values.forEach((value, i) => {
      const button = element("button", { type: "button", title: `The middle of ${name} ${value}` }, value);
      button.addEventListener("click", () => {
        state.codes[0].set(modes[i], first);
        state.tell("codes");
      });
      set.append(button);
    });
    byId("classes").append(set);
  }
}

// Only the latest codes are decoded: a slider that moves faster than the model computes skips what lies between.
function keepShowing(state, ask, show) {
  let busy = false, again = false;
  async function turn() {
    again = busy;
    if (busy) return;
    busy = true;
    try {
      const { outputs, milliseconds } = await ask("decode", { codes: state.codes });
      show(outputs);
      document.body.dataset.milliseconds = milliseconds.toFixed(1);
    } catch (error) {
      say(`The picture could not be made: ${error.message}`, 0);
    }
    busy = false;
    if (again) await turn();
    else document.body.dataset.shown = String(1 + Number(document.body.dataset.shown || 0));
  }
  state.on((what) => (what === "codes" || what === "start") && turn());
  return turn();
}

function buildKeeping(state, ask) {
  let wait = 0;
  const keep = () => { // as a link of its own, so that reloading changes nothing
    clearTimeout(wait);
    // In a notebook's frame the address is nobody's, and may not be changed.
    if (location.protocol !== "blob:") wait = setTimeout(() => location.replace(toHash(state)), 300);
  };
  state.on(keep);
  if (parent !== window) // in a notebook's cell, which may want to know
    state.on(() => parent.postMessage({ explorer: { codes: state.codes.map((c) => Array.from(c)), names: { ...state.names } } }, "*"));
  byId("copy-link").addEventListener("click", async () => {
    location.replace(toHash(state));
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied: it holds sliders and names.");
    } catch {
      say("This browser keeps pages from copying: take the address from its address bar.");
    }
  });
  byId("save-names").addEventListener("click", async () => {
    if (state.model.served) {
      await ask("names", { names: state.names });
      say("The names are kept with the run: its next page and report read them.");
      return;
    }
    download("names.json", `${JSON.stringify(state.names, null, 1)}\n`, "application/json");
    say("Put names.json into the run's folder: the next page and report read it.", 8);
  });
  byId("save-page").hidden = state.model.served; // it would have no model in it
  byId("save-page").addEventListener("click", () => {
    const names = JSON.stringify(state.names).replaceAll("<", "\\u003c");
    const page = source.replace(/(<script [^>]*id="names-data">)[^<]*/, (_, tag) => tag + names);
    download("explorer.html", `<!doctype html>\n${page}`, "text/html");
  });
}

async function start() {
  if (typeof DecompressionStream === "undefined" || typeof OffscreenCanvas === "undefined") {
    say("This browser is too old for this page: any of 2023 or later will do.", 0);
    return;
  }
  const model = await unpack("model-data").json(), block = await unpack("block-data").arrayBuffer();
  const state = new State(model, JSON.parse(byId("names-data").textContent), block);
  byId("title").textContent = model.title.data;
  byId("methods").textContent = model.title.methods;
  const ask = startWorker();
  await ask("load", { model, block, address: location.href.split("#")[0] });
  const pictures = await observationValues(model, block);
  byId("main").hidden = false;
  const show = buildViews(state, pictures);
  buildSliders(state);
  buildPad(state);
  buildMap(state, pictures);
  buildClasses(state);
  buildOwn(state, ask);
  byId("mean").addEventListener("click", () => state.startFrom(null, state.mean()));
  byId("random").addEventListener("click", () => state.startFrom(null, state.random()));
  let begun = { start: { observation: 0 }, codes: state.observation(0).map((c) => c.slice()) };
  state.on((what) => { if (what === "start" && state.start) begun = { start: state.start, codes: state.codes.map((c) => c.slice()) }; });
  byId("restore").addEventListener("click", () => state.startFrom(begun.start, begun.codes));
  if (!fromHash(state, location.hash)) state.startFrom(begun.start, begun.codes);
  await keepShowing(state, ask, show);
  buildStrip(state, ask);
  buildKeeping(state, ask);
  window.explorer = { codes: () => state.codes.map((c) => Array.from(c)), names: () => ({ ...state.names }) }; // for consoles
  say("", 0);
}

start().catch((error) => say(`The page could not start: ${error.message}`, 0));
