import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { define, load } from './browser.js';
import { definePage, Element } from './elements.js';

const { setTimeout: wait, setInterval: repeat } = globalThis;
/** The page's times are this much shorter. */
const haste = 10;
const page = definePage({
  setTimeout: (body, milliseconds = 0) => wait(body, milliseconds / haste).unref(), setInterval: (body, milliseconds) => repeat(body, milliseconds / haste).unref(),
  isSecureContext: true,
});
// The elements of index.html that have a name.
const source = await readFile(new URL('../../Sources/Library/Console/Pages/index.html', import.meta.url), 'utf8');
for (const [, tag, id] of source.slice(source.indexOf('<body>')).matchAll(/<(\w+)[^>]*\bid="([\w-]+)"/g)) {
  const element = new Element(tag);
  element.setAttribute('id', id);
  page.append(element);
}
const byId = (id) => document.getElementById(id);
byId('notice').hidden = true;
byId('notice').append(byId('notice-text'));
byId('banner').hidden = true;

const kit = { session: { kit: 'heron07', version: '1.0', right: 'all', secure_port: 0, listening: false, password: false }, isAway: false };
const status = {
  state: 'idle', armed: true, faults: [], clock: 'ntp', level_dbfs: [], elapsed_seconds: 0, synced_seconds: 0, selected: null, take: null, card: null,
  channels: 1, rate_hz: 48_000, format: 'S16', low_pass_hz: null, high_pass_hz: null, slope_db_per_octave: 24, free_bytes: 1, time_left_seconds: 60,
};
const sources = [];
const seen = { reloads: 0 };
const handlers = {};
define({
  location: { hash: '', protocol: 'http:', hostname: 'heron07.local', reload: () => { seen.reloads += 1; } },
  addEventListener: (kind, body) => { handlers[kind] = body; },
  EventSource: class {
    handlers = {};
    constructor() { sources.push(this); }
    addEventListener(kind, body) { this.handlers[kind] = body; }
    close() {}
  },
  fetch: async (path) => {
    if (kit.isAway) throw new TypeError('Failed to fetch');
    const body = path === '/api/session' ? kit.session : path.startsWith('/api/outbox') ? { stores: [], takes: [], paused: false } : { history: [], takes: [] };
    return new Response(JSON.stringify(body), { headers: { Date: new Date().toUTCString() } });
  },
});
const settled = (milliseconds = 0) => new Promise((resolve) => { wait(resolve, 20 + milliseconds / haste); });

await load('app.js');
await settled();
sources[0].handlers.open();
sources[0].handlers.status({ data: JSON.stringify(status) });
await settled();

/** The connection is lost. It is back at the next attempt, after 1.5 s, or only once `join` is called. */
async function lose() {
  sources.at(-1).handlers.error();
  await settled(1500);
}
const join = () => sources.at(-1).handlers.open();

test('the deck is shown first, with the name of the kit', () => {
  assert.equal(document.title, 'Deck · heron07 · Fieldfare');
  assert.deepEqual([byId('brand').textContent, byId('main').querySelector('.state-name').textContent], ['heron07', 'Ready']);
});

test('a connection that is soon back is not worth a message', async () => {
  await lose();
  join();
  await settled(5000);
  assert.deepEqual([byId('banner').hidden, byId('notice').hidden], [true, true]);
});

test('a lost connection is said, and that it is back', async () => {
  kit.isAway = true;
  await lose();
  await settled(1500);
  assert.deepEqual([byId('banner').hidden, byId('banner').textContent.split('.')[0]], [false, 'The connection to the kit is lost']);
  kit.isAway = false;
  join();
  await settled();
  assert.deepEqual([byId('banner').hidden, byId('notice-text').textContent, seen.reloads], [true, 'The kit is connected.', 0]);
});

test('after an update of the kit the page is loaded anew', async () => {
  kit.isAway = true;
  await lose();
  await settled(1500);
  Object.assign(kit, { isAway: false, session: { ...kit.session, version: '1.1' } });
  join();
  await settled();
  assert.equal(seen.reloads, 1);
  kit.session = { ...kit.session, version: '1.0' };
});

test('a question is closed with its page, and no other one follows', async () => {
  location.hash = '#/kit/hardware';
  await handlers.hashchange();
  await settled();
  assert.equal(document.title, 'Cards, buttons, self-test · heron07 · Fieldfare');
  byId('main').querySelectorAll('button').at(-1).click();
  await settled();
  assert.equal(page.querySelector('dialog').open, true);
  location.hash = '#/deck';
  await handlers.hashchange();
  await settled();
  assert.deepEqual([page.querySelector('dialog'), document.title], [null, 'Deck · heron07 · Fieldfare']);
});
