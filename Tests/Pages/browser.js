// The browser's features that node lacks, as far as the pages' modules use them, and sound as the kit serves it.

process.env.TZ = 'Europe/Berlin';

/** Puts values in the place of the browser's globals. */
export function define(globals) {
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}

/** The page's language, and those that the browser asks for. */
export function setLanguages(lang, languages) {
  const kept = new Map();
  define({
    document: { documentElement: { lang } }, navigator: { languages }, devicePixelRatio: 1, window: { addEventListener() {} },
    localStorage: { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) },
  });
}
setLanguages('en', ['en-GB']);

/** A module of the pages. With a different `copy` it is loaded anew. */
export const load = (name, copy = '') => import(`../../Sources/Library/Console/Pages/${name}${copy && `?${copy}`}`);

/** A drawing context that lists the calls of some methods, with the colour in force. */
export function tracingContext(...methods) {
  const calls = [];
  const values = { measureText: () => ({ width: 0 }) };
  const context = new Proxy(values, {
    get: (_, name) => (name in values ? values[name] : (...some) => {
      if (methods.includes(name)) calls.push([name, values.fillStyle, ...some]);
    }),
  });
  return { context, calls };
}

const formats = {
  U8: { tag: 1, bytes: 1, write: (view, at, value) => view.setUint8(at, value * 128 + 128) },
  S16: { tag: 1, bytes: 2, write: (view, at, value) => view.setInt16(at, value * 0x8000, true) },
  S24: { tag: 1, bytes: 3, write: (view, at, value) => {
    view.setUint16(at, (value * 0x800000) & 0xffff, true);
    view.setInt8(at + 2, (value * 0x800000) >> 16);
  } },
  S32: { tag: 1, bytes: 4, write: (view, at, value) => view.setInt32(at, value * 0x80000000, true) },
  F32: { tag: 3, bytes: 4, write: (view, at, value) => view.setFloat32(at, value, true) },
  F64: { tag: 3, bytes: 8, write: (view, at, value) => view.setFloat64(at, value, true) },
};

/**
 * A WAV file.
 * @param {number[][]} channels Samples of full scale 1.
 * @param {object} options `format` of the above, `rate`, `before` (chunks before `fmt `: names and bytes), and `isExtensible`.
 * @returns {ArrayBuffer}
 */
export function wav(channels, { format = 'F32', rate = 48000, before = [], isExtensible = false } = {}) {
  const { tag, bytes, write } = formats[format];
  const block = bytes * channels.length;
  const fmt = new DataView(new ArrayBuffer(isExtensible ? 40 : 16));
  fmt.setUint16(0, isExtensible ? 0xfffe : tag, true);
  fmt.setUint16(2, channels.length, true);
  fmt.setUint32(4, rate, true);
  fmt.setUint32(8, rate * block, true);
  fmt.setUint16(12, block, true);
  fmt.setUint16(14, bytes * 8, true);
  if (isExtensible) fmt.setUint16(24, tag, true);
  const data = new DataView(new ArrayBuffer(channels[0].length * block));
  channels.forEach((samples, channel) => samples.forEach((value, frame) => write(data, frame * block + channel * bytes, value)));
  return chunks([...before, ['fmt ', new Uint8Array(fmt.buffer)], ['data', new Uint8Array(data.buffer)]]);
}

/** A RIFF file of chunks: names and bytes. */
export function chunks(list) {
  const head = (name, size) => Buffer.concat([Buffer.from(name), Buffer.from(Uint32Array.of(size).buffer)]);
  const body = Buffer.concat(list.flatMap(([name, bytes]) => [head(name, bytes.length), bytes, Buffer.alloc(bytes.length % 2)]));
  return new Uint8Array(Buffer.concat([head('RIFF', body.length + 4), Buffer.from('WAVE'), body])).buffer;
}

/** A sine. */
export function sine(frames, hertz, rate, amplitude = 1) {
  return Array.from({ length: frames }, (_, frame) => amplitude * Math.sin((2 * Math.PI * hertz * frame) / rate));
}

/** Answers the requests for clips of a take, and notes their ranges in the list that it returns. */
export function serveClips(channels, rate) {
  const asked = [];
  define({
    fetch: async (path) => {
      const query = new URL(path, 'http://kit').searchParams;
      const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
      asked.push([from, to]);
      const parts = channels.map((samples) => samples.slice(from, to));
      return { ok: true, arrayBuffer: async () => wav(parts, { rate }) };
    },
  });
  return asked;
}

/**
 * Loads a worker's module.
 * @returns {Promise<(message: object, isLast?: (answer: object) => boolean) => Promise<object[]>>} Sends a message, and returns the
 * answers up to the last one.
 */
export async function worker(name) {
  let received = () => {};
  define({ onmessage: null, postMessage: (answer) => received(answer) });
  await load(name);
  return (message, isLast = () => true) => new Promise((resolve) => {
    const answers = [];
    received = (answer) => {
      answers.push(answer);
      if (isLast(answer)) resolve(answers);
    };
    globalThis.onmessage({ data: message });
  });
}
