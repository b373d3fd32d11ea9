// Talks to the kit: requests, and the events that it sends.
import { addTexts, filled, locale, moduleOf, t, valuesOf } from './texts.js';

/** The kit did not answer a request that changes nothing. */
export class Unread extends Error {}

/** A refusal by the kit, with its sentence in the page's language. `detail` is the kit's own sentence, and `values` are its parts. */
export class Refusal extends Error {
  constructor(status, sentence, { detail = sentence, values = {} } = {}) {
    super(sentence);
    Object.assign(this, { status, detail, values });
  }
}

/** Reads a problem object (RFC 9457). */
export async function refusalOf(response) {
  const problem = await response.json().catch(() => null);
  if (problem?.detail) return new Refusal(response.status, await sentenceOf(problem), problem);
  return new Refusal(response.status, [response.status, response.statusText].filter(Boolean).join(' '));
}

/** What a problem says: the page's text for its reason, else the kit's own sentence, which is English. */
export async function sentenceOf({ detail, reason, values }) {
  if (!reason) return detail;
  // They are loaded with the first refusal. Without them the kit's sentence is better than none.
  const texts = await loadPart(moduleOf('problem-texts')).then((module) => module.default, () => ({}));
  const parts = { ...values, detail };
  const isKnown = texts[reason] && valuesOf(texts[reason]).every((name) => parts[name] !== undefined);
  for (const [name, value] of Object.entries(parts)) if (typeof value === 'number') parts[name] = value.toLocaleString(locale());
  return isKnown ? filled(texts[reason], parts) : detail;
}

async function request(method, path, body, read = async (response) => JSON.parse(await response.text() || 'null')) {
  const options = { method, credentials: 'same-origin', cache: 'no-store' };
  if (body instanceof Blob) {
    options.body = body;
    options.headers = { 'Content-Type': 'application/octet-stream' };
  } else if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { 'Content-Type': 'application/json' };
  }
  const fail = () => { throw method === 'GET' ? new Unread(t('connection.unread')) : new Error(t('connection.unknown')); };
  const response = await fetch(path, options).catch(fail);
  api.lastDate = Date.parse(response.headers.get('Date')) || null;
  api.clockDifference = api.lastDate && Date.now() - api.lastDate;
  if (!response.ok) throw await refusalOf(response);
  // The connection may be lost in the middle of an answer.
  return response.status === 204 ? null : read(response).catch(fail);
}

/** Requests with JSON answers. Each throws a `Refusal`, or another `Error` with a sentence while the kit cannot be reached. */
export const api = {
  /** The kit's clock in the last answer, in milliseconds; null before the first one. */
  lastDate: null,
  /** This browser's clock minus the kit's at that answer, in milliseconds; null if unknown. */
  clockDifference: null,
  get: (path) => request('GET', path),
  /** A file generated for this request: its name and its content. */
  file: (path) => request('GET', path, undefined, async (response) => ({
    name: response.headers.get('Content-Disposition')?.match(/filename="([^"]*)"/)?.[1] ?? '', content: await response.blob(),
  })),
  post: (path, body = {}) => request('POST', path, body),
  put: (path, file) => request('PUT', path, file),
  patch: (path, body) => request('PATCH', path, body),
  delete: (path) => request('DELETE', path),
};

/** The order of requests for the same thing. An answer that a later request's answer has overtaken is older, and must not replace it. */
export class AnswerOrder {
  #asked = 0;
  #shown = 0;

  /** Call it before a request. Returns a function to call with its answer, which returns whether to show that. */
  ask() {
    this.#asked += 1;
    const number = this.#asked;
    return () => {
      if (number < this.#shown) return false;
      this.#shown = number;
      return true;
    };
  }
}

const failedLoads = new Map();

/** Loads a module of the page. Some browsers cache a failed load, so the next attempt uses another address. */
export async function loadPart(file) {
  const count = failedLoads.get(file) ?? 0;
  try {
    return await import(count ? `./${file}?again=${count}` : `./${file}`);
  } catch (error) {
    failedLoads.set(file, count + 1);
    throw error;
  }
}

/** Loads the texts of a part of the page. */
export async function loadTexts(part) { addTexts((await loadPart(moduleOf(part))).default); }

const kinds = ['status', 'level', 'peaks', 'take', 'away', 'listening', 'catalog'];
const longestSilence = 20_000;

/** The kit's events, and `connection` with `{ isConnected }`. It reconnects by itself. */
export class Events {
  #handlers = new Map();
  #source = null;
  #watchdog = 0;
  #retry = 0;
  isConnected = null;

  /** Calls `handler` with the data of each event of a kind. Returns a function that ends this. */
  on(kind, handler) {
    if (!this.#handlers.has(kind)) this.#handlers.set(kind, new Set());
    this.#handlers.get(kind).add(handler);
    return () => this.#handlers.get(kind).delete(handler);
  }

  start() {
    if (this.#source) return;
    const source = new EventSource('/api/events');
    this.#source = source;
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => {
        this.#sign(true);
        this.#emit(kind, JSON.parse(event.data));
      });
    }
    source.addEventListener('open', () => this.#sign(true));
    source.addEventListener('error', () => this.#lose());
    this.#watch();
  }

  stop() {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
  }

  #emit(kind, data) {
    for (const handler of [...this.#handlers.get(kind) ?? []]) handler(data);
  }

  #sign(isConnected) {
    if (isConnected) this.#watch();
    if (this.isConnected === isConnected) return;
    this.isConnected = isConnected;
    this.#emit('connection', { isConnected });
  }

  // A lost network closes no connection; only the silence shows it.
  #watch() {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#lose(), longestSilence);
  }

  #lose() {
    this.stop();
    this.#sign(false);
    this.#retry = setTimeout(() => this.start(), 1500);
  }
}
