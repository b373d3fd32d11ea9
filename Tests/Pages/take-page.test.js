import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load } from './browser.js';
import { definePage, Element } from './elements.js';

definePage();
const { loadTexts } = await load('api.js');
for (const part of ['texts', 'takes-texts']) await loadTexts(part);
const { t } = await load('texts.js');
const { takePage } = await load('take.js');

const stem = 'heron07-0042_20261121_061811';
const take = {
  take: stem, kit: 'heron07', number: 42, rate_hz: 48_000, frames: 480_000, channels: 1, duration_seconds: 10, format: 'S16', started: '2026-11-21T06:18:11Z', clock: 'ntp',
  files: [`${stem}.wav`], counts: { parts: 1 }, starred: false, tags: [], memo: null, title: 'Wren', upload: 'none', place: 'here', bytes: 960_000, folder: '/takes',
};
const sidecar = { gaps: [], filter: [{}], levels: [], parts: [], channels: 1, rate_hz: 48_000, format: 'S16', revision: 1, pre_roll_frames: 0, card: 'hw', version: '1.0' };
const settled = () => new Promise((resolve) => { setTimeout(resolve, 3); });

/** A take's page on a kit, whose answers to changes wait for `answer`. */
async function open({ markers = [], isAway = false } = {}) {
  const kit = { take: { ...take }, markers, isAway };
  const handlers = {};
  const seen = { failures: [], titles: [], patched: [] };
  const waiting = [];
  const emit = async (kind, data) => {
    for (const handler of handlers[kind] ?? []) handler(data);
    await settled();
  };
  const lost = () => { throw new Error('The kit did not answer.'); };
  const place = new Element('div');
  const context = {
    t, status: () => null, session: () => ({ right: 'all' }), say() {}, succeed() {}, places: { sound: place },
    fail: (error) => seen.failures.push(error.message), showTitle: (text) => seen.titles.push(text),
    events: { on: (kind, body) => { (handlers[kind] ??= []).push(body); return () => { handlers[kind] = handlers[kind].filter((one) => one !== body); }; } },
    api: {
      get: async (path) => (kit.isAway ? lost() : kit.late ? kit.late : path.endsWith(stem) ? { take: kit.take, sidecar, notes: { receipts: [] }, markers: kit.markers } : { takes: [], next: null }),
      patch: (path, changes) => new Promise((resolve, reject) => {
        seen.patched.push(changes);
        waiting.push({ resolve: () => resolve({ take: kit.take }), reject });
      }),
    },
  };
  const root = new Element('div');
  document.body.append(root);
  const end = takePage(root, stem, undefined, undefined, context);
  await settled();
  const answer = async (error = null) => {
    const { resolve, reject } = waiting.shift();
    if (error) reject(error);
    else resolve();
    await settled();
  };
  const close = async () => {
    end();
    root.remove();
    await settled();
  };
  return { root, kit, seen, emit, answer, close };
}
define({ fetch: async () => new Response('', { status: 404 }) });

test('a take that could not be requested is requested by a button, and by itself once the kit is back', async () => {
  const { root, kit, seen, emit, close } = await open({ isAway: true });
  assert.deepEqual([root.querySelector('[role="alert"]').textContent, root.querySelector('button').textContent], ['The kit did not answer.', 'Try again']);
  root.querySelector('button').click();
  await settled();
  assert.equal(root.querySelector('.wave'), null);
  await emit('connection', { isConnected: false });
  kit.isAway = false;
  await emit('connection', { isConnected: true });
  assert.deepEqual([root.querySelector('h1').textContent, seen.titles.at(-1), root.querySelector('[role="alert"]')?.hidden ?? true], ['Wren', 'Wren', true]);
  assert.ok(root.querySelector('.wave'));
  await close();
});

test('a memo and a note that could not be saved are kept when the take is left, and said to be', async () => {
  const markers = [{ at_frame: 48_000, note: null }];
  const first = await open({ markers });
  const [memo] = first.root.querySelectorAll('textarea');
  memo.write('by the mill');
  first.root.querySelector('.place-note').write('sings');
  await first.close();
  assert.deepEqual([first.seen.patched, first.seen.failures], [[], [
    'The memo of Wren is not saved. It is kept here until this page is closed: open the take again. '
    + 'A note of a marker of Wren is not saved. It is kept here until this page is closed: open the take again.',
  ]]);
  // The note is complete, and is saved at once. It is on its way when the take is left again.
  const second = await open({ markers });
  assert.deepEqual([second.root.querySelector('textarea').value, second.root.querySelector('.place-note').value], ['by the mill', 'sings']);
  assert.deepEqual(second.seen.patched, [{ markers: { set: [{ at_frame: 48_000, note: 'sings' }] } }]);
  second.root.querySelector('textarea').write('');
  await second.close();
  await second.answer(new Error('It was refused.'));
  assert.deepEqual(second.seen.failures, ['It was refused. A note of a marker of Wren is not saved. It is kept here until this page is closed: open the take again.']);
  const third = await open({ markers: [{ at_frame: 48_000, note: null }] });
  third.kit.markers = [{ at_frame: 48_000, note: 'sings' }];
  await third.answer();
  await third.close();
  assert.deepEqual(third.seen.failures, []);
});

test('an answer that was on its way does not undo a change', async () => {
  const { root, kit, emit, answer, close } = await open();
  const star = root.querySelector('button.take-star');
  const shown = () => star.getAttribute('aria-pressed');
  const before = kit.take;
  let send;
  kit.late = new Promise((resolve) => { send = () => resolve({ take: before, markers: [] }); });
  await emit('catalog', { what: 'changed', take: stem });
  star.click();
  kit.take = { ...before, starred: true };
  await answer();
  assert.equal(shown(), 'true');
  send();
  await settled();
  assert.equal(shown(), 'true');
  assert.equal(root.querySelector('.legend').hidden, true);
  kit.late = null;
  kit.take = before;
  kit.markers = [{ at_frame: 5, note: null }];
  await emit('catalog', { what: 'changed', take: stem });
  assert.deepEqual([shown(), root.querySelector('.legend').hidden, root.querySelector('.legend').textContent], ['false', false, 'Marker']);
  await close();
});
