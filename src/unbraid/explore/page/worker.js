// The model computes here, beside the window, so that sliders never stick; or here the server is asked.
import { Chain } from "./chain.js";
import { Remote } from "./remote.js";

let chain = null;

const ANSWERS = {
  load: ({ model, block, address }) => { chain = model.served ? new Remote(model, address) : new Chain(model, block); },
  decode: async ({ codes }) => {
    const start = performance.now();
    return { outputs: await chain.decode(codes), milliseconds: performance.now() - start };
  },
  encode: ({ values, fallback }) => chain.encode(values, fallback),
  names: ({ names }) => chain.names(names),
};

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ number: data.number, answer: await ANSWERS[data.kind](data) });
  } catch (error) {
    self.postMessage({ number: data.number, error: error.message });
  }
};
