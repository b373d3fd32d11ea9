import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { t } = await load('texts.js');
const { loadTexts } = await load('api.js');
await loadTexts('texts');
const format = await load('format.js');
const { after, atRest, followUps, isBusy, share, thumbsOf, zone } = await load('deck-parts.js');
const { faultLine, linesOf } = await load('format.js');
const { lampRows, neighbour } = await load('deck.js');

const [minute, hour, day] = [60, 3600, 86_400];

test('a span has its two largest units, and no zeros', () => {
  const spans = [0, 59, minute, 12 * minute + 59, hour, 4 * hour + 10 * minute, day, day + 59 * minute, 6 * day + 4 * hour + 24 * minute, -5];
  assert.deepEqual(spans.map((seconds) => format.spanText(seconds, t)), [
    'less than 1 min', 'less than 1 min', '1 min', '12 min', '1 h', '4 h 10 min', '1 day', '1 day', '6 days 4 h', 'less than 1 min']);
});

test('the time that is left is said where it is known, else the space', () => {
  const left = (status) => [format.leftText(status, t), format.roomText(status, t)];
  assert.deepEqual(left({ time_left_seconds: 534_291, free_bytes: 153e9 }), ['6 days 4 h left', '6 days 4 h left, 153 GB free']);
  assert.deepEqual(left({ time_left_seconds: null, free_bytes: 2e9 }), ['2 GB free', '2 GB free']);
  assert.deepEqual(left({ time_left_seconds: null, free_bytes: null }), ['', '–']);
});

test('values are old after 3 s of silence, and at once without a connection', () => {
  const ages = [[2999, true], [3000, true], [59_999, true], [60_000, true], [7_260_000, true], [100, false]];
  assert.deepEqual(ages.map(([silence, isReachable]) => format.ageText(silence, isReachable, t)), ['', '3 s ago', '59 s ago', '1 min ago', '2 h ago', '0 s ago']);
});

test('what is on the disk has a tenth of a second, and what is not is in whole seconds', () => {
  const level = { elapsed_seconds: 5025.31, synced_seconds: 5024.62 };
  assert.equal(format.diskText(level, true, t), 'on disk up to 1:23:44.6');
  assert.equal(format.diskText({ ...level, synced_seconds: 5018 }, false, t), '7 s not on the disk yet');
});

test('a take has its title, the first line of its memo, or its number', () => {
  const stems = ['heron07-0042_20261121_061811', 'heron-7-1055_unset', 'heron07-0042-061811Z', 'copied', 'heron07-0042'];
  assert.deepEqual(stems.map(format.numberOf), [42, 1055, 42, null, null]);
  const take = { take: stems[0], memo: ' a wren \nat the weir' };
  assert.equal(format.nameText({ ...take, title: 'Wren' }, t), 'Wren');
  assert.equal(format.nameText(take, t), 'a wren');
  assert.equal(format.nameText({ take: stems[0], memo: '\ngeo:1,2' }, t), 'Take 42');
  assert.equal(format.nameText({ take: 'copied', memo: null }, t), 'copied');
});

test('the newest measurement is shown for half an hour', () => {
  const now = Date.parse('2026-11-29T12:00:00Z');
  const measured = (at, more) => ({ event: 'measure', at, ...more });
  const both = measured('2026-11-29T11:50:00Z', { supply_volts: 3.905, temperatures: { cpu: 41.3, sd: 22 } });
  assert.equal(format.measuredText([measured('2026-11-29T11:40:00Z', { supply_volts: 3 }), both, { event: 'press', at: '' }], now), '3.91 V · 41 °C');
  assert.equal(format.measuredText([measured('2026-11-29T11:50:00Z', { temperatures: { cpu: 9.6 } })], now), '10 °C');
  assert.equal(format.measuredText([measured('2026-11-29T11:50:00Z', { free_bytes: 1 })], now), '');
  assert.equal(format.measuredText([both], now + hour * 1000), '');
  assert.equal(format.measuredText([], now), '');
});

test('the upload is said in few words', () => {
  const outbox = (waiting, held, paused = false) => ({ paused, stores: [{ waiting, held }, { waiting: 0, held: 0 }] });
  const texts = [outbox(0, 0), outbox(1, 0), outbox(3, 2), outbox(3, 0, true), outbox(0, 2), { paused: false, stores: [] }];
  assert.deepEqual(texts.map((one) => format.uploadText(one, t)), [
    'everything uploaded', '1 take to upload', '3 takes to upload', '3 to upload, paused', '2 held', '']);
});

test('a press is pending until its own answer, and another press changes nothing meanwhile', () => {
  const press = (id, isReachable = true) => ({ kind: 'press', id, isReachable });
  const pending = after(atRest, press(1));
  assert.deepEqual(pending, { kind: 'pending', id: 1 });
  assert.equal(after(pending, press(2)), pending);
  const late = after(pending, followUps.pending.event);
  assert.deepEqual([late, isBusy(late)], [{ kind: 'late', id: 1 }, true]);
  for (const busy of [pending, late]) {
    assert.equal(after(busy, { kind: 'done', id: 2 }), busy);
    assert.equal(after(busy, { kind: 'rest' }), busy);
    assert.deepEqual(after(busy, { kind: 'done', id: 1 }), { kind: 'done' });
    assert.deepEqual(after(busy, { kind: 'refused', id: 1, why: 'no card' }), { kind: 'refused', why: 'no card' });
  }
});

test('a press without a connection sends nothing, and an answer that comes too late changes nothing', () => {
  const unreachable = after(atRest, { kind: 'press', id: 1, isReachable: false });
  assert.deepEqual([unreachable, isBusy(unreachable)], [{ kind: 'unreachable' }, false]);
  assert.deepEqual(after(unreachable, followUps.unreachable.event), atRest);
  const refused = { kind: 'refused', why: 'unknown' };
  for (const event of [{ kind: 'done', id: 1 }, { kind: 'refused', id: 1, why: 'late' }, { kind: 'late' }]) assert.equal(after(refused, event), refused);
  assert.deepEqual(after(refused, { kind: 'press', id: 2, isReachable: true }), { kind: 'pending', id: 2 });
  assert.deepEqual(after({ kind: 'done' }, followUps.done.event), atRest);
  assert.equal(after(atRest, { kind: 'done' }), atRest);
});

const status = (more) => ({ clock: 'ntp', faults: [], ...more });

test('each fault is a line with an action, and its texts are there', () => {
  const messages = {
    2: [
      '', 'storage: /takes: nearly full: less than 9 min can be recorded: free some space', 'storage: /takes: full: 512 MiB free: free some space',
      'record: write /takes/a.wav.part: No space left on device',
    ],
    4: ['storage: /media/stick: it is gone', 'takes: 2 takes are damaged'],
    8: ['signal: usb: clipped on channel 2: turn the gain down', 'signal: usb: no signal on channel 1, 2 for 10 s: check', 'signal: usb: the signal fell by 30 dB an hour ago on channel 1: check',
      'signal: usb: states 48000 Hz and runs at 47000 Hz: takes', 'signal: usb: something new'],
  };
  const faults = Array.from({ length: 9 }, (_, index) => (messages[index + 1] ?? ['']).map((message) => ({ code: index + 1, message }))).flat();
  const lines = faults.map(faultLine);
  assert.deepEqual(lines.map(({ text, action }) => `${text} ${action}`), [
    'fault.1 kit', 'fault.2 takes', 'fault.2 takes', 'fault.2.full takes', 'fault.2.full takes', 'fault.3 clock', 'fault.4 kit', 'fault.4.damaged takes', 'fault.5 settings', 'fault.6 retry',
    'fault.7 settings', 'fault.8.clipped gain', 'fault.8.silent kit', 'fault.8.fell kit', 'fault.8.rate kit', 'fault.8 kit', 'fault.other kit']);
  const keys = [...lines.flatMap(({ text, action }) => [text, `act.${action}`]), ...Array.from({ length: 8 }, (_, index) => `help.${index + 1}`)];
  for (const key of keys) assert.notEqual(t(key), key);
});

test('faults that read the same are one line, whose sentences are behind "more"', () => {
  const faults = [{ code: 3, message: 'clock: not set' }, { code: 4, message: 'storage: one' }, { code: 4, message: 'record: two' }];
  const lines = linesOf(status({ clock: 'unset', faults }), { clockDifference: 4_000_000, hasUnknownStick: true });
  assert.deepEqual(lines.map(({ key, help, more }) => [key, help, more]), [
    ['fault.3', 'help.3', 'clock: not set'], ['fault.4', 'help.4', 'storage: one\nrecord: two'], ['stick', 'stick.help', '']]);
});

test('a clock that differs from the phone’s is a line from 3 s on', () => {
  const seconds = (clockDifference) => linesOf(status(), { clockDifference, hasUnknownStick: false }).map(({ text, values }) => [text, values.seconds]);
  assert.deepEqual([2400, -2400, null].map(seconds), [[], [], []]);
  assert.deepEqual([3000, -61_000].map(seconds), [[['clock.differs', 3]], [['clock.differs', 61]]]);
});

test('record and mark have one place, stop the other, and a stopped take can be continued', () => {
  const thumbs = (...some) => Object.values(thumbsOf(...some)).join(' ');
  assert.equal(thumbs('idle', 0, false), 'record stop false');
  assert.equal(thumbs('fault', 0, false), 'record stop false');
  assert.equal(thumbs('recording', 0, false), 'mark stop true');
  assert.equal(thumbs('playing', 0, false), 'record stop true');
  assert.equal(thumbs('paused', 0, false), 'record stop true');
  assert.equal(thumbs('idle', 43, false), 'fresh rejoin false');
  // A second tap on stop does not continue the take.
  assert.equal(thumbs('idle', 60, true), 'fresh stop true');
});

test('the neighbours of a take are found by its number', () => {
  const queries = [-1, 1].map((step) => Object.fromEntries(new URL(neighbour('heron07-0042_20261121_061811', step), 'http://kit').searchParams));
  const common = { order: 'number', place: 'here', limit: '1' };
  assert.deepEqual(queries, [{ ...common, descending: 'true', after: '42:-1' }, { ...common, descending: 'false', after: `42:${2 ** 53 - 1}` }]);
});

test('a bar is linear in decibels from -60 to 0, with three zones', () => {
  assert.deepEqual([null, -90, -60, -15, 0, 1].map(share), [0, 0, 0, 0.75, 1, 1]);
  assert.deepEqual([null, -10.1, -10, -3.1, -3, 0].map(zone), ['good', 'good', 'loud', 'loud', 'hot', 'hot']);
});

test('the lamps show the state, the upload and the lowest fault', () => {
  const patterns = (...some) => lampRows(...some).map(([, [key, values]]) => (values.n ? `${key} ${values.n}` : key).slice('lamp.'.length));
  const idle = { state: 'idle', armed: true, pairing: false, faults: [] };
  assert.deepEqual(patterns(idle, true, 'off'), ['off', 'flash', 'off', 'off']);
  assert.deepEqual(patterns({ ...idle, state: 'recording', faults: [{ code: 8 }, { code: 3 }] }, true, 'slow'), ['on', 'off', 'slow', 'count 3']);
  assert.deepEqual(patterns({ ...idle, state: 'recording' }, false, 'off')[0], 'fast');
  assert.deepEqual(patterns({ ...idle, state: 'paused', pairing: true }, true, 'on'), ['off', 'slow', 'flicker', 'off']);
});
