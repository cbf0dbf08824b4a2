// The stages of a model, one after another: codes to observations, and back.
import { Graph } from "./graph.js";
import { floats } from "./tensor.js";

export class Chain {
  constructor(model, block) {
    this.shape = model.data.shape;
    this.stages = model.stages.map((stage) => ({
      count: stage.count,
      encoder: stage.encoder && new Graph(stage.encoder, block),
      decoder: new Graph(stage.decoder, block),
    }));
  }

  // What stage `k` makes of its codes, given those of the stage before and what that stage made.
  decodeStage(k, codes, before) {
    const { decoder, count } = this.stages[k];
    const feeds = { codes: floats([1, count], codes[k]) };
    if (decoder.inputs.includes("y")) feeds.y = before;
    if (decoder.inputs.includes("given")) feeds.given = floats([1, codes[k - 1].length], codes[k - 1]);
    return decoder.run(feeds).x;
  }

  // What every stage makes of the codes.
  decode(codes) {
    const outputs = [];
    for (let k = 0; k < this.stages.length; k++) outputs.push(this.decodeStage(k, codes, outputs[k - 1]));
    return outputs.map((o) => o.data);
  }

  // The codes of an observation in every stage; `fallback` are those of stages that have no encoder.
  encode(values, fallback) {
    const x = floats([1, ...this.shape], values);
    const codes = [], outputs = [];
    let classes = null;
    this.stages.forEach(({ encoder }, k) => {
      let found = fallback[k];
      if (encoder) {
        const feeds = { x };
        if (encoder.inputs.includes("y")) feeds.y = outputs[k - 1];
        const made = encoder.run(feeds);
        found = made.codes.data;
        classes ||= made.classes && Array.from(made.classes.data);
      }
      codes.push(found);
      outputs.push(this.decodeStage(k, codes, outputs[k - 1]));
    });
    return { codes, classes };
  }
}
