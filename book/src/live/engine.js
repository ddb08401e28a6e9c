// The reference engine as WebAssembly (`web/` in the repository), fetched when a reader asks for it.
// What goes in and what comes out lies in a buffer of the engine's; a call that fails leaves its
// reason there.

let compiled;

/** The file of this name beside this module. */
export async function fetched(name) {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name} cannot be fetched: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** An engine of one's own; the file is fetched once for all. */
export async function engine() {
  compiled ??= fetched("engine.wasm").then((bytes) => WebAssembly.compile(bytes));
  const { exports: wasm } = await WebAssembly.instantiate(await compiled, {});
  const bytes = () => new Uint8Array(wasm.memory.buffer, wasm.buffer(), wasm.buffer_len());
  const text = () => new TextDecoder().decode(bytes());
  return {
    text,
    json: () => JSON.parse(text()),
    floats: () => new Float32Array(bytes().slice().buffer),
    /** Puts bytes or a text where the next call finds it. */
    put(data) {
      const given = typeof data === "string" ? new TextEncoder().encode(data) : data;
      const at = wasm.room(given.length);
      new Uint8Array(wasm.memory.buffer, at, given.length).set(given);
    },
    /** Calls an export. −1 is a failure, whose reason becomes the error's message. */
    call(name, ...numbers) {
      const answer = wasm[name](...numbers);
      if (answer === -1) throw new Error(text());
      return answer;
    },
  };
}
