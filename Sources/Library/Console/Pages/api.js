// Talks to the kit: requests, and the events that it sends.
import { t } from './texts.js';

/** A refusal by the kit, with its sentence. */
export class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function request(method, path, body, read = (response) => response.json().catch(() => null)) {
  const options = { method, credentials: 'same-origin', cache: 'no-store' };
  if (body instanceof Blob) {
    options.body = body;
    options.headers = { 'Content-Type': 'application/octet-stream' };
  } else if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { 'Content-Type': 'application/json' };
  }
  const response = await fetch(path, options).catch(() => {
    throw new Error(t(method === 'GET' ? 'connection.unread' : 'connection.unknown'));
  });
  api.lastDate = Date.parse(response.headers.get('Date')) || null;
  api.clockDifference = api.lastDate && Date.now() - api.lastDate;
  if (!response.ok) {
    const problem = await response.json().catch(() => null);
    throw new Refusal(response.status, problem?.detail ?? `${response.status} ${response.statusText}`);
  }
  return response.status === 204 ? null : read(response);
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
