// Runs packed graphs: reads jobs from the file named first, writes what each graph makes to the file named second.
// A job is {graph, block (base64), feeds: {name: {dims, type, data}}}; an output is {dims, data}.
import { readFileSync, writeFileSync } from "node:fs";
import { Graph } from "../../src/unbraid/explore/page/graph.js";

const KINDS = { float32: Float32Array, int64: Int32Array, bool: Uint8Array };
const numbers = (v) => (Number.isFinite(v) ? v : String(v)); // JSON has no NaN

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const made = jobs.map(({ graph, block, feeds }) => {
  const bytes = Uint8Array.from(Buffer.from(block, "base64"));
  const inputs = Object.fromEntries(
    Object.entries(feeds).map(([name, { dims, type, data }]) => [name, { dims, data: KINDS[type].from(data, Number) }]),
  );
  const ready = new Graph(graph, bytes.buffer);
  ready.run(inputs);
  const start = performance.now();
  const outputs = ready.run(inputs);
  const milliseconds = performance.now() - start;
  return {
    milliseconds,
    outputs: Object.values(outputs).map(({ dims, data }) => ({ dims, data: Array.from(data, numbers) })),
  };
});
writeFileSync(process.argv[3], JSON.stringify(made));
