// The model of a page that is served: it stays with the server, which is asked for what it makes.

export class Remote {
  constructor({ data, stages }, address) {
    this.address = address;
    this.size = data.shape.reduce((a, b) => a * b);
    this.widths = stages.map((stage) => stage.count);
  }

  async ask(what, body) {
    let answer;
    try {
      answer = await fetch(this.address + what, { method: "POST", body });
    } catch {
      throw new Error("the server does not answer: start unbraid explore --serve again.");
    }
    if (!answer.ok) throw new Error(await answer.text());
    return new Float32Array(await answer.arrayBuffer());
  }

  async decode(codes) {
    const made = await this.ask("decode", joined(codes));
    return this.widths.map((_, k) => made.slice(k * this.size, (k + 1) * this.size));
  }

  async encode(values, fallback) {
    const found = await this.ask("encode", joined([values, ...fallback]));
    let from = 0;
    return { codes: this.widths.map((n) => found.slice(from, (from += n))), classes: null };
  }

  async names(names) { await this.ask("names", JSON.stringify(names)); }
}

function joined(parts) {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let to = 0;
  for (const part of parts) {
    all.set(part, to);
    to += part.length;
  }
  return all;
}
