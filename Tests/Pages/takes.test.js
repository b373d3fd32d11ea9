import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const actions = await load('take-actions.js');
const { countOf, isByTime, noConditions, queryOf } = await load('takes-parts.js');
const { downloadsOf } = await load('take-actions.js');
const { nameText, queueText } = await load('format.js');
const { positionEdit, positionLine, storedMemo } = await load('take-notes.js');

/** The name of a text, with its values. */
const t = (key, values = {}) => [key, ...Object.values(values)].join(' ');

test('a path has a name as part of an address', () => {
  assert.equal(actions.takePath('wren 1/2?'), '/api/takes/wren%201%2F2%3F');
  assert.equal(actions.archiveURL(['a&b', 'c']), '/api/archive?take=a%26b&take=c');
});

test('the question before takes are deleted says what will be left of them', () => {
  const [safe, lost] = [{ upload: 'done' }, { upload: 'waiting' }];
  const question = (takes, where) => actions.deleteQuestion(takes, where, t).split(' takes.').join('\n').replace('takes.', '').split('\n');
  assert.deepEqual(question([safe], 'here'), ['delete.here.one 1', 'delete.safe.it', 'delete.bin']);
  assert.deepEqual(question([lost], 'here'), ['delete.here.one 1', 'delete.lost.it', 'delete.bin']);
  assert.deepEqual(question([safe, safe], 'here'), ['delete.here.other 2', 'delete.safe.other 2', 'delete.bin']);
  assert.deepEqual(question([safe, lost, lost], 'here'), ['delete.here.other 3', 'delete.safe.one 1', 'delete.lost.other 2', 'delete.bin']);
  assert.deepEqual(question([safe], 'there'), ['delete.there.one 1', 'delete.kept', 'delete.final']);
  assert.deepEqual(question([safe, lost], 'both'), ['delete.both.other 2', 'delete.nothing', 'delete.final']);
});

test('a take that was said to be safe is deleted only while it is', () => {
  assert.equal(actions.deletePath({ take: 'a', upload: 'done' }, 'here'), '/api/takes/a?where=here&left=home');
  assert.equal(actions.deletePath({ take: 'a', upload: 'waiting' }, 'here'), '/api/takes/a?where=here');
  assert.equal(actions.deletePath({ take: 'a', upload: 'done' }, 'both'), '/api/takes/a?where=both');
});

test('what fails for one take is done for the others, one after the other', async () => {
  const begun = [];
  const { done, errors } = await actions.each(['a', 'b', 'c'], async (take) => {
    begun.push(take);
    await null;
    if (take === 'b') throw new Error('no b');
  });
  assert.deepEqual([begun, done, errors.map((error) => error.message)], [['a', 'b', 'c'], ['a', 'c'], ['no b']]);
});

test('deleted takes can be restored where the recorder has a bin', async () => {
  const offered = (status) => {
    const said = [];
    const posted = [];
    const failures = [];
    const context = {
      t, status: () => status, api: { post: async (path) => { if (path.includes('lost')) throw new Error(path); posted.push(path); } },
      say: (...words) => said.push(words), fail: (error) => failures.push(error.message),
    };
    return { context, said, posted, failures };
  };
  const old = offered({});
  actions.offerUndo(old.context, ['a'], () => {});
  assert.deepEqual(old.said, [['takes.deleted.one 1', null]]);

  const kit = offered({ bin_bytes: 0 });
  let count = 0;
  actions.offerUndo(kit.context, ['a', 'b'], () => { count += 1; });
  assert.deepEqual([kit.said[0][0], kit.said[0][1].text], ['takes.deleted.other 2', 'takes.undo']);
  await kit.said[0][1].run();
  assert.deepEqual([kit.posted, kit.said[1], kit.failures, count], [['/api/takes/a/restore', '/api/takes/b/restore'], ['takes.restored.other 2'], [], 1]);

  const broken = offered({ bin_bytes: 5 });
  actions.offerUndo(broken.context, ['lost', 'b'], () => { count += 1; });
  await broken.said[0][1].run();
  assert.deepEqual([broken.posted, broken.said.length, broken.failures, count], [['/api/takes/b/restore'], 1, ['/api/takes/lost/restore'], 2]);
});

test('a search has the conditions that are set', () => {
  assert.equal(queryOf(noConditions), '');
  assert.equal(queryOf({ ...noConditions, q: '  Nightingale & co ', tag: ' bird ', starred: true }), 'q=Nightingale+%26+co&zone=Europe%2FBerlin&tag=bird&starred=true');
  assert.equal(queryOf({ ...noConditions, kit: 'wren', upload: 'not-done', place: 'here' }), 'kit=wren&upload=not-done&place=here');
  assert.equal(queryOf({ ...noConditions, sort: 'loudest', longer: '60', louder: '-12', label: ' wren ' }), 'sort=loudest&longer=60&louder=-12&label=wren');
});

test('hours of the day have both ends, and midnight is one', () => {
  const hours = (hourFrom, hourTo) => queryOf({ ...noConditions, hourFrom, hourTo });
  assert.deepEqual([hours('22', '5'), hours('0', '4'), hours('20', ''), hours('', '6')],
    ['22&hour_to=5', '0&hour_to=4', '20&hour_to=24', '0&hour_to=6'].map((some) => `hour_from=${some}&zone=Europe%2FBerlin`));
});

const days = (conditions, now) => [...new URLSearchParams(queryOf({ ...noConditions, ...conditions }, now)).values()];

test('a search of days has whole local days, also where the clocks are changed', () => {
  const between = (since, until) => days({ when: 'days', since, until });
  assert.deepEqual(between('2026-10-25', '2026-10-25'), ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z']);
  assert.deepEqual(between('2026-12-31', '2026-12-31'), ['2026-12-30T23:00:00.000Z', '2026-12-31T23:00:00.000Z']);
  assert.deepEqual(days({ when: '', since: '2026-12-31' }), [], 'days count only where they are chosen');
});

test('times in words are local: last night is from yesterday afternoon to this morning', () => {
  const now = new Date('2026-11-27T11:20:00Z');
  const of = (when) => days({ when }, now);
  assert.deepEqual(of('today'), ['2026-11-26T23:00:00.000Z']);
  assert.deepEqual(of('yesterday'), ['2026-11-25T23:00:00.000Z', '2026-11-26T23:00:00.000Z']);
  assert.deepEqual(of('night'), ['2026-11-26T15:00:00.000Z', '2026-11-27T09:00:00.000Z']);
  assert.deepEqual(of('week'), ['2026-11-20T23:00:00.000Z']);
});

test('the filter says how many conditions are set, without the search and the order', () => {
  const count = (conditions) => countOf({ ...noConditions, ...conditions });
  assert.deepEqual([count({}), count({ q: 'wren', sort: 'longest' }), count({ starred: true, longer: '60' })], [0, 0, 2]);
  assert.deepEqual([count({ when: 'days', since: '2026-10-25', until: '2026-10-25' }), count({ hourTo: '6' }), count({ hourFrom: '4', hourTo: '6' })], [1, 1, 1]);
});

test('only lists by time have days', () => {
  assert.deepEqual(['newest', 'oldest', 'longest', 'loudest'].map((sort) => isByTime({ sort })), [true, true, false, false]);
});

test('a take is called by its title, the first line of its memo, or its number', () => {
  const takes = [{ title: 'Wren', memo: 'Owl' }, { title: ' ', memo: ' Owl \nat the barn' }, { memo: '\nat the barn' }, { memo: '' }, { memo: null }, {}];
  assert.deepEqual(takes.map((take) => nameText({ take: 'heron07-0007_20261127_061811', ...take }, t)), ['Wren', 'Owl', ...Array(4).fill('deck.take.number 7')]);
});

const take = {
  take: 'a', rate_hz: 48_000, frames: 480_000, channels: 2, format: 'S24_3LE', bytes: 2_880_000, files: ['a.wav'],
};

test('a take can be downloaded as a small MP3, as FLAC, and as it was recorded', () => {
  assert.deepEqual(downloadsOf(take).map(({ format, url, name, bytes, isStored }) => [format, url, name, bytes, isStored]), [
    ['mp3', '/api/takes/a/sound.mp3', 'a.mp3', 160_000, false],
    ['flac', '/api/takes/a/clip?from=0&to=480000&format=flac', 'a.flac', null, false],
    ['wav', '/api/takes/a/files/a.wav', 'a.wav', 2_880_000, true],
  ]);
  const parts = downloadsOf({ ...take, files: ['a.flac', 'a-p2.flac'] });
  assert.deepEqual(parts.map(({ isStored }) => isStored), [false, false, false]);
  assert.deepEqual(downloadsOf({ ...take, files: ['a.flac'] }).map(({ isStored, bytes }) => [isStored, bytes]), [[false, 160_000], [true, 2_880_000], [false, 2_880_000]]);
});

test('a selection has clips, and no MP3 at a rate that MP3 lacks', () => {
  const clips = downloadsOf({ ...take, rate_hz: 96_000 }, { from: 100, to: 1100, band: null });
  assert.deepEqual(clips.map(({ url, name, bytes }) => [url, name, bytes]), [
    ['/api/takes/a/clip?from=100&to=1100&format=flac', 'a-100-1100.flac', null],
    ['/api/takes/a/clip?from=100&to=1100&format=wav', 'a-100-1100.wav', 6000],
  ]);
  const [mp3] = downloadsOf(take, { from: 48_000, to: 192_000, band: null });
  assert.deepEqual([mp3.url, mp3.name, mp3.bytes], ['/api/takes/a/sound.mp3?from=48000&to=192000', 'a-48000-192000.mp3', 48_000]);
});

test('the outbox is told in one line', () => {
  const store = { waiting: 0, waiting_bytes: 0, held: 0, why: null };
  const text = (stores, takes = [], paused = false) => queueText({ stores, takes, paused }, t);
  assert.equal(text([]), 'queue.none');
  assert.equal(text([store]), 'queue.done');
  assert.equal(text([{ ...store, waiting: 2, waiting_bytes: 1_500_000 }, { ...store, waiting: 1, waiting_bytes: 500_000 }]), 'queue.waiting 3 2 MB');
  assert.equal(text([{ ...store, held: 1, why: 'no password' }], [], true), 'queue.paused; queue.held 1; no password');
  assert.equal(text([store], [{ state: 'waiting' }, { state: 'sending', take: 'a', sent_bytes: 199, bytes: 200 }]), 'queue.sending a 99');
  assert.equal(text([store], [{ state: 'sending', take: 'a', sent_bytes: 0, bytes: 0 }]), 'queue.sending a 0');
});

test('a position is a geo URI of a metre, without an exponent, and zero has no sign', () => {
  const line = (latitude, longitude, accuracy, rest) => positionLine({ latitude, longitude, accuracy, altitude: null, altitudeAccuracy: null, ...rest });
  assert.equal(line(52.5200066, 13.404954, 4.2), 'geo:52.52001,13.40495;u=5');
  assert.equal(line(-0.000001, 1e-7, 3), 'geo:0.00000,0.00000;u=3');
  assert.equal(line(-33.85, -70, 8, { altitude: -0.4 }), 'geo:-33.85000,-70.00000,0;u=8');
  assert.equal(line(47, 8, 8, { altitude: 1234.5, altitudeAccuracy: 20.1 }), 'geo:47.00000,8.00000,1235;u=21');
});

test('a position follows the memo, or takes the place of the one that the button wrote', () => {
  const edited = (memo) => {
    const { text, from, to } = positionEdit(memo, 'geo:1.00000,2.00000;u=3');
    return memo.slice(0, from) + text + memo.slice(to);
  };
  assert.equal(edited('Owl'), 'Owl\ngeo:1.00000,2.00000;u=3');
  assert.equal(edited(''), '\ngeo:1.00000,2.00000;u=3');
  assert.equal(edited('Owl\ngeo:-9.12345,8.54321,-12;u=40\nat the barn'), 'Owl\ngeo:1.00000,2.00000;u=3\nat the barn');
  // Texts that a person wrote.
  for (const memo of ['Owl\ngeo:9.1,8.5', 'at geo:9.12345,8.54321;u=40', 'geo:9.12345,8.54321;u=40 at the barn']) assert.equal(edited(memo), `${memo}\ngeo:1.00000,2.00000;u=3`);
});

test('a memo that was pasted with control characters is equal to what the kit stored', () => {
  assert.equal(storedMemo('wren\u000bowl\u0085\r\n\tat dawn \n'), 'wren owl \n\tat dawn');
});
