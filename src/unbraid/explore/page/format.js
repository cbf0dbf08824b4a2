// Small helpers that every part of the window uses.

export const byId = (id) => document.getElementById(id);
export const prefix = (stage) => (stage === 0 ? "" : `stage-${stage + 1}/`);
export const round = (value) => (Math.abs(value) < 0.005 ? 0 : value).toFixed(2).replace("-", "−");
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function drawn(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

let hide = 0;

export function say(text, seconds = 4) {
  byId("status").textContent = text;
  clearTimeout(hide);
  if (seconds) hide = setTimeout(() => { byId("status").textContent = ""; }, 1000 * seconds);
}

export function download(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
