// Writes a GIF of frames: reads {width, height, frames (base64 of RGBA), delays} from the file named first.
import { readFileSync, writeFileSync } from "node:fs";
import { encodeGif } from "../../src/unbraid/explore/page/gif.js";

const { width, height, frames, delays } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const pixels = frames.map((text) => new Uint8ClampedArray(Buffer.from(text, "base64")));
writeFileSync(process.argv[3], Buffer.from(await encodeGif(pixels, width, height, delays).arrayBuffer()));
