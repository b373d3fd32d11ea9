import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { t } = await load('texts.js');
const { loadTexts } = await load('api.js');
for (const part of ['texts', 'kit-texts']) await loadTexts(part);
const values = await load('settings-values.js');
const groups = await load('settings-values.js');
const fields = await load('settings-values.js');
const { hintOf, sentenceAt } = await load('settings-controls.js');
const { SettingsStore, stateOf } = await load('settings-values.js');

const text = (name, value) => values.valueText(name, value, t);

test('a number has its unit, in the larger one where that is round', () => {
  const shown = [
    ['filter.low_pass_hz', 250], ['filter.low_pass_hz', 8000], ['capture.rate_hz', 44_100], ['capture.gain_db', -12.5],
    ['takes.rejoin_seconds', 90], ['takes.rejoin_seconds', 120],
    ['takes.longest_minutes', 45], ['takes.longest_minutes', 1440], ['takes.split_mib', 4000], ['takes.reserve_mib', 512],
    ['playback.volume', 0.8], ['playback.speed', 0.1],
    ['playback.pitch_cents', -1200], ['power.low_volts', 3.4], ['outbox.limit_kbit_per_second', 2500], ['panel.debounce_milliseconds', 15],
    ['filter.slope_db_per_octave', 24], ['power.supply_ratio', 2]];
  assert.deepEqual(shown.map(([name, value]) => text(name, value)), [
    '250 Hz', '8 kHz', '44.1 kHz', '-12.5 dB', '90 s', '2 min', '45 min', '24 h', '3.906 GiB', '512 MiB', '80 %', '0.1 ×', '-1,200 cent', '3.4 V',
    '2.5 Mbit/s', '15 ms', '24 dB/oct', '2 ×']);
});

test('a word, a list, a line and nothing are said in words', () => {
  const shown = [
    ['capture.gain_db', 'keep'], ['capture.rate_hz', 'native'], ['takes.rejoin_seconds', 0], ['takes.directory', '/var/lib/fieldfare/takes'],
    ['takes.directory', '/srv/takes'],
    ['outbox.store', ['auto', 's3']], ['outbox.store', []], ['outbox.window', '22:00-06:00'], ['outbox.window', 'always'],
    ['capture.channels', 2], ['capture.channels', [1, 3]], ['capture.agc', true],
    ['panel.buttons.record', { line: 'GPIO17' }], ['panel.buttons.record', { chip: 'gpiochip0', offset: 5, active_low: false, pull: 'none' }],
    ['panel.leds.fault', { led: 'ACT' }],
    ['panel.leds.fault', undefined], ['power.supply', undefined], ['outbox.s3.prefix', ''], ['kit.name', 'heron07']];
  assert.deepEqual(shown.map(([name, value]) => text(name, value)), [
    'as the card has it', 'the card’s own', 'never', 'in the kit', '/srv/takes', 'USB stick, S3', 'none', '22:00–06:00', 'at any time',
    'the first 2', 'channels 1, 3', 'yes',
    'GPIO17', 'gpiochip0 5, active while the line is high, no resistor', 'ACT', 'none', 'not measured', 'none', 'heron07']);
});

test('hours are joined where they touch or overlap, also over midnight', () => {
  const lists = [
    [], ['05:00-07:30'], ['19:00-21:00', '05:00-07:30'], ['05:00-07:00', '07:00-08:00', '07:30-09:00'], ['00:00-12:00', '12:00-24:00'],
    ['22:00-06:00'], ['22:00-24:00', '00:00-06:00'],
    ['22:00-06:00', '05:00-07:00'], ['12:00-11:00', '10:00-12:00'], ['00:00-06:00', '06:00-08:00', '20:00-01:00'],
    ['05:00-09:00', '06:00-07:00']];
  assert.deepEqual(lists.map((list) => values.hoursText(list, t)), [
    'only by hand', '05:00–07:30', '05:00–07:30, 19:00–21:00', '05:00–09:00', 'all day', '22:00–06:00', '22:00–06:00', '22:00–07:00', 'all day',
    '20:00–08:00', '05:00–09:00']);
  assert.deepEqual(lists.map((list) => values.hoursLength(list) / 3600), [0, 2.5, 4.5, 4, 24, 8, 8, 9, 24, 12, 4]);
});

test('hours are read from rows, and the whole day is two halves', () => {
  const read = (...rows) => fields.readHours(rows, t);
  assert.deepEqual(read(['05:00', '07:30'], ['22:00', '00:00']), ['05:00-07:30', '22:00-24:00']);
  assert.deepEqual(read(['00:00', '00:00']), ['00:00-12:00', '12:00-24:00']);
  assert.deepEqual(read(), []);
  assert.throws(() => read(['05:00', '']), { message: 'Give both times.' });
  assert.throws(() => read(['05:00', '05:00']), { message: 'The two times must differ.' });
});

test('a number is read in the unit of the field, and its limits are said with units', () => {
  const read = (name, limits, typed) => fields.readNumber(name, limits, typed, t);
  const volume = { least: 0, most: 1 };
  assert.deepEqual(['80', ' 29 ', '0,5', ''].map((typed) => read('playback.volume', volume, typed)), [0.8, 0.29, 0.005, undefined]);
  assert.equal(read('capture.gain_db', { least: -150, most: 150 }, '−3.5'), -3.5);
  assert.throws(() => read('playback.volume', volume, '101'), { message: 'Type a number from 0 % to 100 %.' });
  assert.throws(() => read('filter.low_pass_hz', { least: 20, most: 345_600 }, '5'), { message: 'Type a number from 20 Hz to 345.6 kHz.' });
  for (const typed of ['loud', '1e999', '--1', '0x']) assert.throws(() => read('playback.volume', volume, typed), { message: 'Type a number.' });
});

test('channels are read as numbers, each once', () => {
  assert.deepEqual(['2', '1, 3', ' 4;1 '].map((typed) => fields.readChannels(typed, t)), [[2], [1, 3], [4, 1]]);
  for (const typed of ['', '0', '1, x', '1.5']) assert.throws(() => fields.readChannels(typed,
    t), { message: 'Type the numbers of the channels, such as 1, 3.' });
  assert.throws(() => fields.readChannels('1, 1', t), { message: 'Type each channel once.' });
});

test('values are the same whatever the order of their members', () => {
  assert.ok(fields.isSame({ line: 'a', pull: 'up' }, { pull: 'up', line: 'a' }));
  assert.ok(!fields.isSame({ line: 'a' }, { line: 'b' }) && !fields.isSame([1, 2], [2, 1]) && !fields.isSame('1', 1));
});

/** Settings of a kit, as the server answers: a value in the file, a default, and what else an entry has. */
function form(list) {
  const sections = new Map();
  for (const [name, { value, standard, ...more } = {}] of list) {
    const parts = name.split('.');
    const key = parts.pop();
    if (!sections.has(parts.join('.'))) sections.set(parts.join('.'), []);
    sections.get(parts.join('.')).push({ key, allowed: [],
      changeable: true, value, default: standard, in_force: value ?? standard, purpose: 'Its purpose. Default: x', ...more });
  }
  return { path: '/etc/fieldfare.toml', fingerprint: 'a',
    problems: [], changeable: true, sections: [...sections].map(([name, keys]) => ({ name, keys })) };
}

const keys = [
  ['kit.name'], ['capture.card', { standard: 'auto' }], ['capture.gain_db', { standard: 'keep' }], ['capture.agc', { standard: false }],
  ['filter.low_pass_hz', { standard: 'auto' }],
  ['filter.high_pass_hz', { standard: 'off' }], ['takes.format', { standard: 'wav' }], ['playback.volume', { standard: 0.8 }],
  ['panel.lock', { standard: true }], ['panel.buttons.record', { standard: { line: 'GPIO17' } }],
  ['schedule.record', { standard: [] }], ['schedule.off_between', { standard: false }], ['power.low_battery'], ['power.supply'],
  ['power.low_volts'], ['power.governor', { standard: 'keep' }],
  ['power.wifi', { standard: 'keep' }], ['power.hdmi', { standard: 'keep' }], ['control.socket', { standard: '/run/x', changeable: false }],
  ['outbox.store', { standard: 'auto' }],
  ['outbox.window', { standard: 'always' }], ['outbox.s3.bucket', { changeable: false }], ['outbox.s3.region', { standard: 'us-east-1' }]];
const bare = { lines: false, playback: false, wifi: false, hdmi: false, alarm: false, governors: [], supplies: [] };
const full = { lines: true, playback: true, wifi: true, hdmi: true, alarm: true, governors: ['a', 'b'], supplies: [{ path: '/sys/x', name: 'x' }] };
const withGain = { card: 'usb', gain_range_db: { min: 0, max: 20 }, agc: false };
const withoutGain = { card: 'usb', gain_range_db: null, agc: null };
const names = (settings, what, status) => {
  const { first, more } = groups.groupsOf(groups.entriesOf(settings), what, status);
  return [first, more].map((list) => list.map(({ name,
    keys: some }) => `${name}: ${some.map((key) => key.split('.').slice(1).join('.')).join(' ')}`));
};

test('nothing is offered that the kit does not have', () => {
  assert.deepEqual(names(form(keys), bare, withoutGain), [
    ['name: name', 'card: card', 'filter: low_pass_hz high_pass_hz', 'schedule: record', 'upload: store window'], ['takes: format']]);
  assert.deepEqual(names(form(keys), full, withGain), [
    ['name: name', 'card: card', 'gain: gain_db agc', 'filter: low_pass_hz high_pass_hz', 'schedule: record off_between', 'upload: store window'],
    ['takes: format', 'playback: volume', 'panel: lock buttons.record', 'power: low_battery supply governor wifi hdmi']]);
  // Without a card nobody knows whether it has a gain, and an older kit does not say what it has.
  assert.match(names(form(keys), bare, { card: null })[0].join(), /gain: gain_db agc/);
  assert.match(names(form(keys), null, withGain)[1].join(), /panel: lock/);
});

test('what somebody has set is shown in any case, with what depends on it', () => {
  const set = { 'capture.gain_db': 10, 'panel.buttons.record': 'none', 'power.supply': '/sys/x', 'outbox.s3.bucket': 'owls',
    'control.socket': '/run/y' };
  const settings = form(keys.map(([name, entry]) => [name, { ...entry, value: set[name] }]));
  assert.deepEqual(names(settings, bare, withoutGain), [
    ['name: name', 'card: card', 'gain: gain_db', 'filter: low_pass_hz high_pass_hz', 'schedule: record', 'upload: store window'],
    ['takes: format', 'panel: buttons.record', 'power: supply low_volts', 'control: socket', 'outbox: s3.bucket s3.region']]);
  assert.deepEqual(groups.storesOf(groups.entriesOf(settings)), ['auto', 's3']);
  assert.deepEqual(groups.storesOf(groups.entriesOf(form(keys))), ['auto']);
});

test('a group says what is in force now', () => {
  const entries = groups.entriesOf(form(keys.map(([name,
    entry]) => [name, name === 'schedule.record' ? { ...entry, value: ['05:00-07:30'] } : entry])));
  const status = { ...withGain, card: 'usb:0d8c:0014', rate_hz: 48_000, channels: 2, gain_db: -3, low_pass_hz: 21_600, high_pass_hz: null };
  const say = (group, more = {}) => groups.summaryOf(group, entries, { status, session: { kit: 'heron07' }, ...more }, t);
  assert.deepEqual(['name', 'card', 'gain', 'filter', 'schedule', 'upload', 'takes'].map((group) => say(group)), [
    'heron07', 'usb:0d8c:0014, 48 kHz, 2 channels', '-3 dB', 'low-pass 21.6 kHz', '05:00–07:30', 'USB stick', '']);
  assert.equal(groups.scheduledSeconds(entries), 9000);
  assert.equal(say('gain', { status: { ...status, agc: true } }), 'automatic');
  assert.equal(say('filter', { status: { ...status, low_pass_hz: null } }), 'off: every bit as the card has it');
  assert.equal(say('card', { status: { ...status, card: null } }), 'no card');
  // Before the first status, what is set.
  assert.deepEqual(['card', 'gain', 'filter'].map((group) => say(group, { status: null })), ['the best one that is there', 'as the card has it',
    'low-pass 0.45 of the rate']);
  const nowhere = groups.entriesOf(form([['outbox.store', { value: 'none' }], ['outbox.window', { standard: 'always' }]]));
  assert.equal(groups.summaryOf('upload', nowhere, {}, t), 'nowhere');
  const night = groups.entriesOf(form([['outbox.store', { value: ['auto', 's3'] }], ['outbox.window', { value: '22:00-06:00' }]]));
  assert.equal(groups.summaryOf('upload', night, {}, t), 'USB stick, S3, 22:00–06:00');
});

test('a hint says what a key is for, its default, and when a change applies', () => {
  const hint = (name, entry) => hintOf(name, { changeable: true, ...entry }, '/etc/fieldfare.toml', t);
  assert.equal(hint('filter.low_pass_hz', { default: 'auto' }),
    'Above it, sound is filtered away. Default: 0.45 of the rate. Applies after a restart.');
  assert.equal(hint('capture.gain_db', { default: 'keep' }), 'Set whenever the card is opened. Default: as the card has it. Applies at once.');
  assert.equal(hint('kit.name', {}), 'Takes begin with it; a–z, 0–9 and hyphens. Default: the machine’s name and 4 characters. Applies after a restart.');
  assert.equal(hint('outbox.s3.bucket', { changeable: false }),
    'Default: none. Changed in /etc/fieldfare.toml alone: it decides where sound and passwords go.');
  // A newer kit's key has the kit's own words.
  assert.equal(hint('takes.colour', { default: 3, purpose: 'The colour of takes. Default: 3' }),
    'The colour of takes. Default: 3. Applies after a restart.');
});

test('the kind of a field is found by the key and what it may be', () => {
  const kinds = [
    ['filter.low_pass_hz', { least: 20 }], ['capture.agc', { values: ['true', 'false'] }], ['takes.format', { values: ['wav', 'flac'] }],
    ['outbox.s3.region', {}], ['outbox.s3.bucket', { changeable: false }],
    ['panel.leds.all', {}], ['power.low_battery', {}], ['schedule.record', {}], ['takes.colour', { values: ['red'] }]];
  assert.deepEqual(kinds.map(([name, entry]) => fields.kindOf(name, { changeable: true, ...entry })), ['number', 'toggle', 'choice', 'text',
    'fixed', 'line', 'line', 'hours', 'choice']);
});

test('a refusal is shown at its field without the place in the file', () => {
  const at = (name, detail) => sentenceAt(name, { detail, message: `Das geht nicht (${detail}).` });
  assert.equal(at('filter.low_pass_hz', '/etc/f.toml:2: filter.low_pass_hz: found 5 (a whole number): allowed is more'),
    'Das geht nicht (found 5 (a whole number): allowed is more).');
  assert.equal(at('kit.name', 'settings: kit.name: no such key'), 'Das geht nicht (no such key).');
  assert.equal(at('outbox.store', '/etc/f.toml: outbox.s3.bucket: missing'), 'Das geht nicht (/etc/f.toml: outbox.s3.bucket: missing).');
});

test('an outcome is a state, with the reason of a refusal', () => {
  assert.deepEqual([undefined, 'applied', 'waiting: it is in force later', 'refused: too long'].map(stateOf), [
    null, { state: 'applied', why: '' }, { state: 'waiting', why: '' }, { state: 'refused', why: 'too long' }]);
});

/** A store whose kit answers one after the other; null is a failed request. Returns what was reported, and the time that it took. */
async function follow(before, answers) {
  let now = 0;
  const rest = [...answers];
  const get = async () => {
    const answer = rest.length > 1 ? rest.shift() : rest[0];
    if (!answer) throw new Error('away');
    return { ...form(keys), fingerprint: answer[0], outcome: answer[1] };
  };
  const store = new SettingsStore({ api: { get } }, async (time) => { now += time; }, () => now);
  const first = rest;
  first.unshift(before);
  await store.load();
  const states = [];
  await store.follow(({ state, why }) => { states.push(why ? `${state}: ${why}` : state); });
  return [states, now / 1000, store.settings.fingerprint];
}

test('a change is followed through the restart of the services', async () => {
  assert.deepEqual(await follow(['a', undefined], [['a', undefined], null, ['b', 'applied']]), [['applied'], 3, 'b']);
  assert.deepEqual(await follow(['a', undefined], [['a', 'refused: full']]), [['refused: full'], 1, 'a']);
  // The former outcome reads the same: it counts a few seconds after the file was replaced.
  assert.deepEqual(await follow(['a', 'applied'], [['b', 'applied']]), [['applied'], 5, 'b']);
});

test('a change waits for the end of a take, however long it lasts', async () => {
  const waiting = Array.from({ length: 20 }, () => ['b', 'waiting: it is in force later']);
  const [states, seconds] = await follow(['a', undefined], [...waiting, ['b', 'applied']]);
  assert.deepEqual([new Set(states), states.at(-1), seconds], [new Set(['waiting', 'applied']), 'applied', 1 + 20 * 5]);
});

test('a kit that carries nothing out is not followed for ever', async () => {
  assert.deepEqual(await follow(['a', 'applied'], [['a', 'applied']]), [[], 30, 'a']);
});
