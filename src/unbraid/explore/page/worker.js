// The model computes here, beside the window, so that sliders never stick.
import { Chain } from "./chain.js";

let chain = null;

const ANSWERS = {
  load: ({ model, block }) => {
    chain = new Chain(model, block);
    return { operators: chain.stages.map((stage) => stage.decoder.nodes.length) };
  },
  decode: ({ codes }) => {
    const start = performance.now();
    return { outputs: chain.decode(codes), milliseconds: performance.now() - start };
  },
  encode: ({ values, fallback }) => chain.encode(values, fallback),
};

self.onmessage = ({ data }) => {
  try {
    self.postMessage({ number: data.number, answer: ANSWERS[data.kind](data) });
  } catch (error) {
    self.postMessage({ number: data.number, error: error.message });
  }
};
