// The state as the end of an address: #c=codes of stage 1_codes of stage 2&s=observation&n=names.

const LONGEST = 300; // codes of a stage; a flow's thousands would make no address

export function toHash(state) {
  const codes = state.codes.map((c) => (c.length > LONGEST ? "" : Array.from(c, (v) => +v.toFixed(3)).join(",")));
  const parts = [`c=${codes.join("_")}`];
  if (state.start?.observation !== undefined) parts.push(`s=${state.start.observation}`);
  if (Object.keys(state.names).length) parts.push(`n=${encodeURIComponent(JSON.stringify(state.names))}`);
  return `#${parts.join("&")}`;
}

// Sets what the address says; an address of another page, or none, changes nothing.
export function fromHash(state, hash) {
  const parts = new Map(hash.replace(/^#/, "").split("&").map((part) => part.split(/=(.*)/s).slice(0, 2)));
  const codes = (parts.get("c") || "").split("_").map((text) => (text ? text.split(",").map(Number) : []));
  const fits = codes.length === state.codes.length
    && codes.every((c, k) => (c.length === state.codes[k].length && c.every(Number.isFinite)) || (!c.length && k));
  if (!fits) return false;
  try {
    Object.assign(state.names, JSON.parse(decodeURIComponent(parts.get("n") || "{}")));
  } catch {
    return false;
  }
  const start = Number(parts.get("s") ?? NaN);
  state.start = start >= 0 && start < state.model.observations.count ? { observation: start } : null;
  state.setAll(codes.map((c, k) => (c.length ? c : state.codes[k])));
  state.tell("start");
  state.tell("names");
  return true;
}
