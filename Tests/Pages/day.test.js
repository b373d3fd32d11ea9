import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load, tracingContext } from './browser.js';

const facts = await load('day-facts.js');
const { HoursLane, LevelsLane, MeasuredLane, pointsOf, measures } = await load('day-facts.js');
const { filled, t } = await load('texts.js');
const { loadTexts } = await load('api.js');
const { TimeLane, View } = await load('waveform.js');

for (const part of ['texts', 'takes-texts']) await loadTexts(part);
const [german, ofTakes] = await Promise.all(['texts-de.js', 'takes-texts-de.js'].map(async (file) => (await load(file)).default));

const hour = 3600;
const dawn = { from: 5.5 * hour, until: 8 * hour };
const evening = { from: 19 * hour, until: 21 * hour };

/** A take from one second of the day to another. */
const take = (name, from, until, more = {}) => ({ take: name, start_seconds: from, seconds: until - from, number: 1, ...more });

test('a day is read from its text, and what is no day is not', () => {
  assert.equal(facts.dayName(facts.readDay('2026-11-27')), '2026-11-27');
  for (const text of ['', '2026-11', '2026-02-29', '2026-13-01', '2026-1-1', 'today', '2026-11-27x']) assert.equal(facts.readDay(text), null, text);
  assert.deepEqual([-1, 1, 5].map((days) => facts.dayName(facts.laterDay(facts.readDay('2026-11-27'), days))), ['2026-11-26', '2026-11-28', '2026-12-02']);
});

test('a day when the clocks change is an hour shorter or longer', () => {
  assert.deepEqual(['2026-03-29', '2026-10-25', '2026-11-27'].map((name) => facts.secondsOf(facts.readDay(name)) / hour), [23, 25, 24]);
});

test('the kit is asked for the days of this browser', () => {
  assert.equal(facts.dayPath('2026-11-27'), '/api/days/2026-11-27?zone=Europe%2FBerlin');
  assert.equal(facts.dayPath('2026-11-27/spectrum', { columns: 9, from: 0 }), '/api/days/2026-11-27/spectrum?columns=9&from=0&zone=Europe%2FBerlin');
  assert.equal(facts.dayPath('', { month: '2026-11' }), '/api/days?month=2026-11&zone=Europe%2FBerlin');
});

test('ranges that follow each other are one, within the day', () => {
  assert.deepEqual(facts.joined([{ from: 500, until: 600 }, { from: -100, until: 50 }, { from: 50.4, until: 90 }, { from: 70, until: 80 }], 550),
    [{ from: 0, until: 90 }, { from: 500, until: 550 }]);
  assert.deepEqual(facts.joined([{ from: 900, until: 990 }, { from: 3, until: 3 }], 800), []);
});

test('what is in some ranges and in none of others', () => {
  const rest = (...others) => facts.without([{ from: 10, until: 20 }, { from: 30, until: 40 }], others.map(([from, until]) => ({ from, until })))
    .map(({ from, until }) => [from, until]);
  assert.deepEqual(rest(), [[10, 20], [30, 40]]);
  assert.deepEqual(rest([0, 50]), []);
  assert.deepEqual(rest([5, 12], [15, 16], [18, 35]), [[12, 15], [16, 18], [35, 40]]);
  assert.deepEqual(rest([20, 30]), [[10, 20], [30, 40]]);
});

/** The sentences about a day. */
function said(day, recorded, { end = 24 * hour, count = recorded.length, isSoFar = false, translate = t } = {}) {
  return facts.coverageText(facts.coverage({ faults: [], ...day }, recorded, end), count, isSoFar, translate);
}

test('what is missing of what was planned is said with its reasons', () => {
  const recorded = [{ from: dawn.from + 1.5, until: 7 * hour }, { from: 7 * hour + 720, until: dawn.until }, evening];
  const faults = [
    { at_seconds: 3 * hour, code: 2, message: 'full' }, { at_seconds: 7 * hour + 1, until_seconds: 7 * hour + 700, code: 1, message: 'card' },
    { at_seconds: 7 * hour + 5, code: 3, message: 'clock' },
  ];
  assert.equal(said({ planned: [dawn, evening], faults }, recorded),
    'Recorded of planned: 95.5 %. Missing: 1.5 s, 12 min (No sound card). Recorded: 4 h 17 min, 3 takes.');
  const translate = (key, values = {}) => filled({ ...german, ...ofTakes }[key], values);
  assert.equal(said({ planned: [dawn, evening], faults }, recorded, { translate }),
    'Vom Geplanten aufgenommen: 95.5 %. Es fehlen: 1.5 s, 12 min (Keine Soundkarte). Aufgenommen: 4 h 17 min, 3 Aufnahmen.');
});

test('a fault that the page has no words for is said in the kit’s', () => {
  const faults = [{ at_seconds: 8 * hour + 80, code: 'power-cut', message: 'the power was cut' }];
  assert.match(said({ planned: [dawn], faults }, [{ from: dawn.from, until: 7 * hour }]), /60 %\. Missing: 1 h \(the power was cut\)\./);
});

test('a fault that begins or ends at what is missing explains it, and one that was there all the time explains only much', () => {
  const missing = (recorded, fault) => said({ planned: [dawn], faults: [{ code: 1, message: '', ...fault }] }, recorded).match(/Missing: (.*?)\./)[1];
  const [late, short] = [[{ from: 6 * hour, until: dawn.until }], [{ from: dawn.from + 2, until: dawn.until }]];
  assert.equal(missing(late, { at_seconds: 0, until_seconds: 6 * hour - 60 }), '30 min (No sound card)');
  assert.equal(missing(late, { at_seconds: 0, until_seconds: 5 * hour }), '30 min');
  assert.equal(missing(late, { at_seconds: 6 * hour + 60 }), '30 min (No sound card)');
  assert.equal(missing(late, { at_seconds: 0 }), '30 min (No sound card)');
  assert.equal(missing(short, { at_seconds: 0 }), '2 s');
});

test('a fault that is still shown explains what is missing after it, unless a later one does', () => {
  const faults = [{ at_seconds: -hour, code: 1, message: '' }, { at_seconds: 20 * hour, code: 4, message: '', until_seconds: 20 * hour + 60 }];
  assert.match(said({ planned: [dawn, evening], faults }, [{ from: evening.from, until: 20 * hour }]),
    /Missing: 2 h 30 min \(No sound card\), 1 h \(The storage has a problem\)\./);
  assert.match(said({ planned: [dawn], faults: [{ at_seconds: 0, code: 9, message: '' }] }, []), /\(The kit has a problem\)/);
});

test('less than all is never 100 %', () => {
  assert.match(said({ planned: [{ from: 0, until: 24 * hour }] }, [{ from: 0, until: 24 * hour - 1 }]), /^Recorded of planned: 99\.9 %\. Missing: 1 s\./);
  assert.equal(said({ planned: [dawn] }, [dawn]), 'Recorded of planned: 100 %. Recorded: 2 h 30 min, 1 take.');
});

test('of a day that has not ended, what is still to come is not missing', () => {
  assert.equal(said({ planned: [dawn, evening] }, [{ from: dawn.from, until: 7 * hour }], { end: 7 * hour, isSoFar: true }),
    'Recorded of planned so far: 100 %. Recorded: 1 h 30 min, 1 take.');
  assert.equal(said({ planned: [evening] }, [], { end: 7 * hour, isSoFar: true }), 'Nothing was recorded. Nothing was planned so far.');
});

test('a day without anything says so', () => {
  assert.equal(said({}, []), 'Nothing was recorded.');
  assert.equal(said({ planned: [] }, []), 'Nothing was recorded. Nothing was planned.');
  assert.equal(said({}, [{ from: -60, until: 30 }]), 'Recorded: 30 s, 1 take.');
});

test('what happened is listed by time, with links', () => {
  const day = {
    planned: [dawn],
    takes: [take('kit-0007_unset', -300, 60), take('wren 1', dawn.from, dawn.from + 240, { title: 'Wren at the weir' })],
    markers: [{ take: 'wren 1', at_seconds: dawn.from + 96.5, note: 'a wren' }, { take: 'wren 1', at_seconds: dawn.from, note: '' }],
    faults: [
      { at_seconds: -hour, until_seconds: 25 * hour, code: 2, message: 'storage: /takes: full: 512 MiB free: free some space' },
      { at_seconds: 12 * hour, until_seconds: 12 * hour + 720, code: 5, message: 'lost' }, { at_seconds: 13 * hour, code: 8, message: 'clipped on channel 1' },
    ],
  };
  const events = facts.eventsOf(day, (seconds) => `${seconds / hour} h`, t);
  assert.deepEqual(events.map(({ at, ...event }) => [at, ...Object.values(event)]), [
    [-hour, 'fault', 'The storage is full', '1 day 2 h', ''],
    [-300, 'take', 'Take 7', '6 min', '#/takes/kit-0007_unset'],
    [dawn.from, 'plan', 'Planned until 8 h', '2 h 30 min', ''],
    [dawn.from, 'take', 'Wren at the weir', '4 min', '#/takes/wren%201'],
    [dawn.from, 'marker', 'Marker', '', '#/takes/wren%201'],
    [dawn.from + 96.5, 'marker', 'a wren', 'Marker', '#/takes/wren%201?at=96.5'],
    [12 * hour, 'fault', 'Sound was lost', '12 min', ''],
    [13 * hour, 'fault', 'The sound clips', '', ''],
  ]);
});

test('a take’s link has a second only within the take', () => {
  assert.deepEqual([0, -3, 12.3456, 5].map((at) => facts.takeLink('a', at)), ['#/takes/a', '#/takes/a', '#/takes/a?at=12.35', '#/takes/a?at=5']);
});

test('at a second there is the take around it, else the nearest one', () => {
  const takes = [take('a', 100, 200), take('b', 200, 300), take('c', 1000, 1001)];
  const at = (second, slack = 0) => {
    const found = facts.takeAt(takes, second, slack);
    return found && [found.take.take, found.at];
  };
  assert.deepEqual([at(100), at(150), at(200), at(299), at(301), at(999)], [['a', 0], ['a', 50], ['b', 0], ['b', 99], null, null]);
  assert.deepEqual([at(301, 50), at(970, 50), at(1040, 50), at(700, 50)], [['b', 0], ['c', 0], ['c', 0], null]);
});

const box = { x: 0, y: 0, width: 24, height: 60, scale: 1, text: 10 };
const colours = { wave: 'wave', text: 'text', line: 'line', gap: 'gap', loss: 'loss', marker: 'marker', back: 'back' };

/** What a lane draws of some hours of a day, with a frame a minute. */
function drawn(lane, [from, to], ...methods) { return drawnIn(box, lane, [from, to], ...methods); }

function drawnIn(box, lane, [from, to], ...methods) {
  const { context, calls } = tracingContext(...methods);
  const view = new View(1440);
  view.show(60 * from, 60 * to);
  lane.draw(context, box, view, colours);
  return calls;
}

/** The levels of a day that the kit answers with `peaks(from, to)`, once they are there; and what was asked. */
async function levels(peaks, timeText = String) {
  const asked = [];
  const timers = new Map();
  define({ setTimeout: (body) => { timers.set(body, body); return body; }, clearTimeout: (body) => timers.delete(body) });
  const load = async (from, to) => {
    asked.push([from, to]);
    return peaks(from, to);
  };
  const lane = new LevelsLane({ t, frames: 1440, rate: 1, places: [], timeText, load, onLoad: () => {} });
  /** Lets timers and answers come. */
  const rest = async () => {
    for (const body of timers.keys()) if (timers.delete(body)) body();
    for (let turn = 0; turn < 9; turn++) await null;
  };
  await rest();
  return { lane, asked, rest, timers };
}

test('the level of a moment is the greatest there, and nothing where nothing was recorded', async () => {
  const { lane } = await levels(() => Array.from({ length: 96 }, (_, quarter) => ([20, 21].includes(quarter) ? -30 : quarter === 22 ? -12 : null)),
    (frame) => `${frame / 60}:00`);
  const bars = drawn(lane, [0, 24], 'fillRect').filter(([, colour]) => colour === 'wave');
  assert.deepEqual(bars, [['fillRect', 'wave', 5, 12, 1, 48]]);
  assert.deepEqual([lane.greatest(300, 315), lane.greatest(330, 331), lane.greatest(0, 60), lane.greatest(1439, 1440)], [-30, -12, null, null]);
  assert.equal(lane.describe({ from: 300, to: 360 }), 'Levels from 5:00 to 6:00, at most −12 dBFS');
  assert.equal(lane.describe({ from: 0, to: 60 }), 'Levels from 0:00 to 1:00, at most –');
});

test('finer levels are asked for where the zoom rests, and the whole day again after a failure', async () => {
  const { lane, asked, rest, timers } = await levels((from, to) => Array.from({ length: 700 }, () => (to - from === 1440 ? -30 : -40)));
  drawn(lane, [0, 24], 'fillRect');
  assert.equal(timers.size, 0);
  drawn(lane, [10, 13], 'fillRect');
  drawn(lane, [10, 12], 'fillRect');
  assert.equal(timers.size, 1);
  await rest();
  assert.deepEqual(asked, [[0, 1440], [10 * 60 - 61, 12 * 60 + 61]]);
  assert.deepEqual([lane.greatest(600, 610), lane.greatest(500, 610)], [-40, -30]);
  drawn(lane, [10, 12], 'fillRect');
  drawn(lane, [0, 24], 'fillRect');
  assert.equal(timers.size, 0);

  let isAway = true;
  const away = await levels(() => {
    if (isAway) throw new Error('away');
    return [-10];
  });
  assert.deepEqual([away.lane.greatest(0, 1), away.timers.size], [null, 1]);
  isAway = false;
  await away.rest();
  assert.deepEqual([away.asked.length, away.lane.greatest(0, 1)], [2, -10]);
});

test('the quietest sound is seen', async () => {
  const { lane } = await levels(() => [-200, null]);
  assert.deepEqual(drawn(lane, [11, 13], 'fillRect').filter(([, colour]) => colour === 'wave').length, 12);
  assert.deepEqual(drawn(lane, [11, 13], 'fillRect')[0], ['fillRect', 'wave', 0, 59, 1, 1]);
});

test('planned hours are frames, takes are bars in them, and faults have a point below', () => {
  const lane = new HoursLane({ planned: [dawn], takes: [take('a', 6 * hour, 8 * hour), take('b', 20 * hour, 20 * hour + 60)], faults: [{ at_seconds: 5.5 * hour, until_seconds: 5.5 * hour }] }, 1 / 60, 24 * hour);
  assert.deepEqual(drawn(lane, [0, 24], 'strokeRect'), [['strokeRect', 'line', 6.75, 1.5, 0.5, 39]]);
  assert.deepEqual(drawn(lane, [0, 24], 'fillRect').slice(1), [['fillRect', 'wave', 6, 11, 2, 21], ['fillRect', 'wave', 20, 11, 2, 21]]);
  assert.deepEqual(drawn(lane, [0, 24], 'lineTo', 'fill').slice(-3).map(([, , ...place]) => place), [[11, 60], [6, 51], []]);
  assert.deepEqual(new HoursLane({ takes: [], faults: [{ at_seconds: hour }] }, 1, 9 * hour).faults, [{ at_frame: hour, until_frame: 9 * hour }]);
  // What is not in view is not drawn.
  assert.deepEqual(drawn(lane, [9, 12], 'fillRect', 'strokeRect', 'fill').map(([name]) => name), ['fillRect']);
});

test('a line of measurements has its own range, at least a usual one, and ends where there are none', () => {
  const measured = [
    { at_seconds: 0, battery_volts: 4, temperature_c: 10 }, { at_seconds: 600, battery_volts: 3.9 }, { at_seconds: 2 * hour, battery_volts: 3.95, temperature_c: 20 },
  ];
  const lane = new MeasuredLane(measured, 1 / 60);
  assert.deepEqual(lane.lines.map(({ name, points }) => [name, points.length]), [['battery', 3], ['temperature', 2]]);
  const lines = drawn(lane, [0, 24], 'moveTo', 'lineTo', 'stroke').map(([name, , x, y]) => (name === 'stroke' ? name : [name, Math.round(100 * x) / 100, Math.round(100 * y) / 100]));
  // The battery has 0.1 V in the middle half of 0.2 V, the temperature all of its 10 degrees.
  assert.deepEqual(lines, [['moveTo', 0, 16.5], ['lineTo', 0.17, 43.5], ['moveTo', 2, 30], 'stroke', ['moveTo', 0, 57], ['moveTo', 2, 3], 'stroke']);
  assert.deepEqual(new MeasuredLane([{ at_seconds: 5 }], 1).lines, []);
  assert.deepEqual(pointsOf([{ at_seconds: 5, temperature_c: 0 }], measures[1]), [{ at: 5, value: 0 }]);
});

test('the axis of a day has the texts of its times', () => {
  const labels = drawnIn({ ...box, width: 240 }, new TimeLane(1 / 60, { timeText: (second) => `${second / hour} h`, spacing: 5 }), [0, 24], 'fillText').map(([, , text]) => text);
  assert.deepEqual(labels, ['0 h', '6 h', '12 h', '18 h', '24 h']);
});
