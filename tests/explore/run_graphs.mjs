// Runs packed graphs: reads jobs from the file named first, writes what each graph makes to the file named second.
// A job is {graph, block (base64), feeds: {name: {dims, type, data}}, repeats}; an output is {dims, data}.
import { readFileSync, writeFileSync } from "node:fs";
import { Graph } from "../../src/unbraid/explore/page/graph.js";

const KINDS = { float32: Float32Array, int64: Int32Array, bool: Uint8Array };
const numbers = (v) => (Number.isFinite(v) ? v : String(v)); // JSON has no NaN

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const made = jobs.map(({ graph, block, feeds, repeats }) => {
  const bytes = Uint8Array.from(Buffer.from(block, "base64"));
  const inputs = Object.fromEntries(
    Object.entries(feeds).map(([name, { dims, type, data }]) => [name, { dims, data: KINDS[type].from(data, Number) }]),
  );
  const ready = new Graph(graph, bytes.buffer);
  let outputs;
  const times = (repeats || 1) >> 1 || 1;
  for (let turn = 0; turn < times; turn++) outputs = ready.run(inputs); // until it is compiled
  const start = process.cpuUsage(); // of this process alone: a busy machine must not make it look slow
  for (let turn = 0; repeats > 1 && turn < times; turn++) outputs = ready.run(inputs);
  const milliseconds = process.cpuUsage(start).user / 1000 / times;
  return {
    milliseconds,
    outputs: Object.values(outputs).map(({ dims, data }) => ({ dims, data: Array.from(data, numbers) })),
  };
});
writeFileSync(process.argv[3], JSON.stringify(made));
