// Observations of one's own: a picture or a row of a table, dropped, pasted or chosen, and encoded here.
import { byId, say } from "./format.js";
import { columnValues, tableColumns } from "./columns.js";

// The middle of the picture at the model's size; large ones are halved first, which keeps lines from breaking up.
async function pictureValues(file, [channels, height, width]) {
  let source = await createImageBitmap(file);
  let w = source.width, h = source.height;
  const share = Math.min(w / width, h / height);
  let crop = [(w - share * width) / 2, (h - share * height) / 2, share * width, share * height];
  while (crop[2] > 2 * width && crop[3] > 2 * height) {
    const half = new OffscreenCanvas(Math.ceil(crop[2] / 2), Math.ceil(crop[3] / 2));
    half.getContext("2d").drawImage(source, ...crop, 0, 0, half.width, half.height);
    source = half;
    crop = [0, 0, half.width, half.height];
  }
  const last = new OffscreenCanvas(width, height);
  const context = last.getContext("2d");
  context.fillStyle = "#fff"; // under pictures that are partly transparent
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(source, ...crop, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  const values = new Float32Array(channels * height * width);
  for (let p = 0; p < height * width; p++) {
    const [r, g, b] = data.subarray(4 * p, 4 * p + 3);
    if (channels === 1) values[p] = Math.round(0.299 * r + 0.587 * g + 0.114 * b) / 255;
    else [r, g, b].forEach((v, c) => { values[c * height * width + p] = v / 255; });
  }
  return values;
}

// The first row of numbers; where there is a header, columns are found by name.
export function rowValues(text, data) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/).filter((line) => line.trim());
  const split = [",", ";", "\t"].sort((a, b) => lines[0].split(b).length - lines[0].split(a).length)[0];
  const point = (cell) => (split !== "," && /^[-+]?\d+,\d+$/.test(cell) ? cell.replace(",", ".") : cell); // decimal comma
  const rows = lines.map((line) => line.split(split).map((cell) => point(cell.trim().replace(/^"(.*)"$/, "$1"))));
  const columns = tableColumns(data);
  const lacking = data.values && columns.find(({ name }) => !rows[0].includes(name));
  if (rows.length > 1 && data.values && !lacking)
    return columnValues((name) => rows[1][rows[0].indexOf(name)], data);
  const isHeader = rows[0].every((cell) => cell === "" || !Number.isFinite(Number(cell)));
  if (isHeader && rows.length > 1 && lacking) throw new Error(`the table has no column “${lacking.name}”.`);
  const row = isHeader && rows.length > 1 ? rows[1] : rows[0];
  if (row.length !== columns.length) throw new Error(`the row has ${row.length} values, and the model needs ${columns.length}.`);
  return columnValues((name) => row[columns.findIndex((column) => column.name === name)], data);
}

export function buildOwn(state, ask) {
  const { data } = state.model;
  const isImage = data.kind === "image";
  const infers = state.stages.some((stage) => stage.encoder);
  const button = byId("choose"), field = byId("file");
  button.textContent = isImage ? "Your picture …" : "Your row …";
  button.title = isImage ? "Choose, drop or paste a picture" : "Choose or drop a CSV file with one row";
  field.accept = isImage ? "image/*" : ".csv,.tsv,.txt,text/csv";
  if (!infers) {
    button.hidden = true; // codes that are given, or that only a prior knows, cannot be found in an observation
    return;
  }

  async function take(file) {
    if (!file) return;
    try {
      const values = isImage ? await pictureValues(file, data.shape) : rowValues(await file.text(), data);
      const { codes } = await ask("encode", { values, fallback: state.codes });
      state.startFrom({ own: values }, codes);
      say(`${file.name || "Your picture"} is encoded: move the sliders.`);
    } catch (error) {
      say(`${file.name || "This"} cannot be read: ${isImage ? "it is no picture that this browser knows." : error.message}`, 8);
    }
  }
  button.addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    take(field.files[0]);
    field.value = "";
  });
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    take(event.dataTransfer.files[0]);
  });
  addEventListener("paste", (event) => take(event.clipboardData?.files[0]));
}
