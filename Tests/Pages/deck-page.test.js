import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';
import { definePage, Element } from './elements.js';

const { setInterval: repeat, setTimeout: wait } = globalThis;
/** The page's times are this much shorter. */
const haste = 100;
definePage({ setTimeout: (body, milliseconds = 0) => wait(body, milliseconds / haste), setInterval: (...values) => repeat(...values).unref() });
const { loadTexts } = await load('api.js');
await loadTexts('texts');
const { t } = await load('texts.js');
const { deckPage } = await load('deck.js');

const stem = 'heron07-0042_20261121_061811';
const status = {
  state: 'idle', armed: true, faults: [], clock: 'ntp', level_dbfs: [], elapsed_seconds: 0, synced_seconds: 0, selected: stem, take: null, card: null,
  channels: null, rate_hz: null, format: null, low_pass_hz: null, high_pass_hz: null, slope_db_per_octave: 24, free_bytes: 1, time_left_seconds: 60,
};
const settled = () => new Promise(setImmediate);

/** A deck, and its requests by path. Each waits for its answer. */
async function openDeck() {
  const handlers = {};
  const asked = {};
  const places = { thumbs: new Element('div'), measured: new Element('p') };
  const root = new Element('div');
  document.body.append(root);
  const context = {
    t, places, status: () => status, heardAt: () => performance.now(), isReachable: () => true, session: () => ({ right: 'all', listening: false }),
    say() {}, fail() {}, announce() {},
    events: { on: (kind, body) => { handlers[kind] = body; return () => {}; } },
    api: { clockDifference: 0, lastDate: 0, get: (path) => new Promise((resolve) => { (asked[path.split('?')[0]] ??= []).push(resolve); }), post: async () => {} },
  };
  const end = deckPage(root, context);
  await settled();
  return { root, end, asked, emit: async (kind, data) => { handlers[kind](data); await settled(); } };
}

test('a kit without a sound card says so', async () => {
  const { root, end, emit } = await openDeck();
  await emit('status', status);
  assert.match(root.textContent, /Cardno card/);
  end();
});

test('an older answer about the upload queue, or about the selected take, does not replace a later one', async () => {
  const { root, end, asked, emit } = await openDeck();
  await emit('take', {});
  const queue = (waiting) => ({ stores: [{ state: 'ready', waiting, held: 0, waiting_bytes: 0 }], takes: [], paused: false });
  const shown = () => root.querySelector('.deck-left').textContent;
  const [first, second] = asked['/api/outbox'];
  second(queue(3));
  await settled();
  assert.match(shown(), /3 takes to upload/);
  first(queue(9));
  await settled();
  assert.match(shown(), /3 takes to upload/);
  await emit('connection', { isConnected: true });
  asked['/api/outbox'][2](queue(1));
  await settled();
  assert.match(shown(), /1 take to upload/);

  const take = (title) => ({ take: { take: stem, title, started: '2026-11-21T06:18:11Z', duration_seconds: 5, clock: 'ntp' } });
  const answers = asked[`/api/takes/${stem}`];
  await emit('catalog', {});
  await new Promise((resolve) => { setTimeout(resolve, 4000); });
  answers[1](take('Wren'));
  await settled();
  answers[0](take('Heron'));
  await settled();
  assert.equal(root.querySelector('.deck-take-name').textContent, 'Wren');
  end();
});
