// Bytes that stand in the page as text: five characters for four bytes, the first the highest digit.

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
const BASE = 85;

export function fromText(text) {
  const digit = new Uint8Array(128);
  [...DIGITS].forEach((c, i) => { digit[c.charCodeAt(0)] = i; });
  const lacking = (5 - (text.length % 5)) % 5; // the last group may be short: filled up, then cut off
  const out = new Uint8Array(((text.length + lacking) / 5) * 4);
  for (let from = 0, to = 0; from < text.length; from += 5, to += 4) {
    let value = 0;
    for (let k = 0; k < 5; k++) value = value * BASE + (from + k < text.length ? digit[text.charCodeAt(from + k)] : BASE - 1);
    out[to] = value >>> 24;
    out[to + 1] = value >>> 16;
    out[to + 2] = value >>> 8;
    out[to + 3] = value;
  }
  return out.subarray(0, out.length - lacking);
}
