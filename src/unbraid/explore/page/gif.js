// Animated GIFs: frames that share one palette, packed by LZW, repeated for ever.

const COLOURS = 256, BITS = 8, MOST_CODES = 4096;
const CLEAR = 1 << BITS, END = CLEAR + 1;
const bin = (r, g, b) => ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3); // one of 32 × 32 × 32 cells

// frames: RGBA pixels of each; delays: of each in hundredths of a second.
export function encodeGif(frames, width, height, delays) {
  const palette = choosePalette(frames);
  const out = [..."GIF89a"].map((c) => c.charCodeAt(0));
  const word = (value) => out.push(value & 255, value >> 8);
  word(width);
  word(height);
  out.push(0xf0 | (BITS - 1), 0, 0);
  for (let i = 0; i < COLOURS; i++) out.push(...(palette.colours[i] || [0, 0, 0]));
  out.push(0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((c) => c.charCodeAt(0)), 3, 1, 0, 0, 0);
  const parts = [Uint8Array.from(out)];
  frames.forEach((frame, k) => {
    const at = [0x21, 0xf9, 4, 4, delays[k] & 255, delays[k] >> 8, 0, 0, 0x2c, 0, 0, 0, 0];
    at.push(width & 255, width >> 8, height & 255, height >> 8, 0, BITS);
    parts.push(Uint8Array.from(at), inBlocks(packed(palette.indices(frame))));
  });
  parts.push(Uint8Array.of(0x3b));
  return new Blob(parts, { type: "image/gif" });
}

// Cells of colours are cut in two where they are longest, until there are as many boxes as a GIF has colours.
function choosePalette(frames) {
  const counts = new Float64Array(32768), sums = new Float64Array(3 * 32768);
  for (const frame of frames)
    for (let p = 0; p < frame.length; p += 4) {
      const k = bin(frame[p], frame[p + 1], frame[p + 2]);
      counts[k]++;
      for (let c = 0; c < 3; c++) sums[3 * k + c] += frame[p + c];
    }
  const cells = [];
  counts.forEach((n, k) => { if (n) cells.push({ k, n, colour: [0, 1, 2].map((c) => sums[3 * k + c] / n) }); });
  const boxes = [measured(cells)];
  while (boxes.length < COLOURS) {
    const widest = boxes.reduce((best, box, i) => (box.error > boxes[best].error ? i : best), 0);
    const { cells: all, axis, error } = boxes[widest];
    if (!error) break;
    all.sort((a, b) => a.colour[axis] - b.colour[axis]);
    const middle = all.reduce((sum, { n, colour }) => sum + n * colour[axis], 0) / all.reduce((sum, { n }) => sum + n, 0);
    const cut = Math.min(Math.max(all.findIndex(({ colour }) => colour[axis] > middle), 1), all.length - 1);
    boxes.splice(widest, 1, measured(all.slice(0, cut)), measured(all.slice(cut)));
  }
  const place = new Uint8Array(32768);
  boxes.forEach((box, i) => { for (const { k } of box.cells) place[k] = i; });
  return {
    colours: boxes.map(({ colour }) => colour.map(Math.round)),
    indices: (frame) => Uint8Array.from({ length: frame.length / 4 }, (_, p) =>
      place[bin(frame[4 * p], frame[4 * p + 1], frame[4 * p + 2])]),
  };
}

// The mean colour of a box, along which channel it is longest, and its squared error there.
function measured(cells) {
  const whole = cells.reduce((sum, { n }) => sum + n, 0);
  const colour = [0, 1, 2].map((c) => cells.reduce((sum, cell) => sum + cell.n * cell.colour[c], 0) / whole);
  const errors = [0, 1, 2].map((c) => cells.reduce((sum, cell) => sum + cell.n * (cell.colour[c] - colour[c]) ** 2, 0));
  const axis = errors.indexOf(Math.max(...errors));
  return { cells, colour, axis, error: cells.length > 1 ? errors[axis] : 0 };
}

function packed(indices) {
  const out = [], next = new Int16Array(MOST_CODES * COLOURS).fill(-1);
  let held = 0, count = 0, width = BITS + 1, known = END + 1;
  const write = (code) => {
    held |= code << count;
    for (count += width; count >= 8; count -= 8, held >>>= 8) out.push(held & 255);
  };
  write(CLEAR);
  let code = indices[0];
  for (let p = 1; p < indices.length; p++) {
    const key = code * COLOURS + indices[p];
    if (next[key] >= 0) {
      code = next[key];
      continue;
    }
    write(code);
    if (known < MOST_CODES) {
      next[key] = known;
      if (known++ === 1 << width) width++;
    } else {
      write(CLEAR);
      next.fill(-1);
      width = BITS + 1;
      known = END + 1;
    }
    code = indices[p];
  }
  write(code);
  write(END);
  if (count) out.push(held & 255);
  return out;
}

function inBlocks(bytes) {
  const out = new Uint8Array(bytes.length + Math.ceil(bytes.length / 255) + 1);
  let to = 0;
  for (let from = 0; from < bytes.length; from += 255) {
    const part = bytes.slice(from, from + 255);
    out[to] = part.length;
    out.set(part, to + 1);
    to += part.length + 1;
  }
  return out;
}
