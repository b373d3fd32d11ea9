// The facts of a day, and the lanes of its timeline below the spectrogram.
import { faultLine, nameText, numberText, shortText, signedText } from './format.js';
import { drawPlaces, drawRanges, xOf } from './marks.js';
import { counted } from './texts.js';

// The facts of a day: its date, what was recorded of what was planned, and what happened when. Pure. Ranges are `{ from, until }` in
// seconds of the day.

/** Takes that follow each other are this much apart, in seconds, by the rounding of their times. */
const roundingSeconds = 0.5;
/** A fault explains a missing range if it begins or ends within this many seconds of it, or is shown during all of a longer one. */
const nearSeconds = 90;
/** Codes of faults that lose no sound: the clock, the upload, a setting or button, and what the sound is like. */
const harmless = [3, 6, 7, 8];

/** The beginning of a day from its text `2026-11-27`; null if there is no such day. */
export function readDay(text) {
  const [year, month, day] = text.split('-').map(Number);
  const date = new Date(year, month - 1, day);
  return dayName(date) === text ? date : null;
}

/** The text of a day, `2026-11-27`. */
export function dayName(date) {
  const two = (number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The beginning of the day that is some days later. */
export function laterDay(date, days) { return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days); }

/** The length of a day in seconds: when the clocks change, it has 23 or 25 hours. */
export function secondsOf(date) { return (laterDay(date, 1) - date) / 1000; }

/** An address of the kit's answers about a day, or about a month without a day. Days are those of this browser. */
export function dayPath(name, query = {}) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return `/api/days${name && `/${name}`}?${new URLSearchParams({ ...query, ...(timeZone && { zone: timeZone }) })}`;
}

/** The range of a take. */
export function rangeOf({ start_seconds: from, seconds }) { return { from, until: from + seconds }; }

/** The range of a fault. One that is still shown lasts until `end`. */
function faultRange({ at_seconds: from, until_seconds: until }, end) { return { from, until: Math.max(from, until ?? end) }; }

/** The parts of ranges before `end` of the day, in order. Those that follow each other are one. */
export function joined(ranges, end) {
  const parts = [];
  const within = ranges.map(({ from, until }) => ({ from: Math.max(0, from), until: Math.min(end, until) }));
  for (const range of within.filter(({ from, until }) => from < until).sort((one, other) => one.from - other.from)) {
    const last = parts.at(-1);
    if (last && range.from <= last.until + roundingSeconds) last.until = Math.max(last.until, range.until);
    else parts.push(range);
  }
  return parts;
}

/** The parts of ranges that are in none of the others. Both are `joined`. */
export function without(ranges, others) {
  return ranges.flatMap(({ from, until }) => {
    const edges = others.filter((other) => other.until > from && other.from < until).flatMap((other) => [other.from, other.until]);
    const all = [from, ...edges, until];
    return all.flatMap((at, index) => (index % 2 === 0 && at < all[index + 1] ? [{ from: at, until: all[index + 1] }] : []));
  });
}

function total(ranges) { return ranges.reduce((sum, { from, until }) => sum + until - from, 0); }

/**
 * What was recorded up to `end`, and of what was planned.
 * @param {{planned?: object[], faults: object[]}} day An answer of `GET /api/days/{day}`.
 * @param {object[]} recorded Ranges.
 * @returns {{recorded: number, planned: number | null, missing: {from: number, until: number, fault: object | null}[]}} Seconds, and
 * the ranges that are missing, with the last fault that explains them. Without a known plan, `planned` is null.
 */
export function coverage({ planned, faults }, recorded, end) {
  const [takes, plan] = [joined(recorded, end), joined(planned ?? [], end)];
  const missing = without(plan, takes).map((range) => ({ ...range, fault: faults.findLast((fault) => explains(fault, range, end)) ?? null }));
  return { recorded: total(takes), planned: planned ? total(plan) : null, missing };
}

function explains(fault, { from, until }, end) {
  const shown = faultRange(fault, end);
  const isNear = (second) => second >= from - nearSeconds && second <= until + nearSeconds;
  const isLong = until - from > nearSeconds && shown.from <= from && shown.until >= until;
  return !harmless.includes(fault.code) && (isNear(shown.from) || isNear(shown.until) || isLong);
}

/** What a fault was, in few words; the kit's sentence if there are none. */
function faultText(fault, t) {
  const { text } = faultLine(fault);
  return (text === 'fault.other' && fault.message) || t(text);
}

/**
 * What was recorded of what was planned, and what is missing why, in words.
 * @param {boolean} isSoFar Whether the day has not ended.
 */
export function coverageText({ recorded, planned, missing }, count, isSoFar, t) {
  const all = recorded > 0 ? t('day.recorded', { time: shortText(recorded, t), takes: counted(t, 'takes.count', count) }) : t('day.none');
  if (planned === null) return all;
  if (planned === 0) return `${all} ${t(isSoFar ? 'day.unplanned.now' : 'day.unplanned')}`;
  const sums = new Map();
  for (const range of missing) {
    const why = range.fault ? faultText(range.fault, t) : '';
    sums.set(why, (sums.get(why) ?? 0) + range.until - range.from);
  }
  const list = [...sums].map(([why, seconds]) => (why ? t('day.missing.why', { time: shortText(seconds, t), why }) : shortText(seconds, t)));
  // Less than all is never 100 %.
  const percent = numberText(Math.floor(1000 * (1 - total(missing) / planned) + 1e-6) / 10, 1);
  const share = t(isSoFar ? 'day.share.now' : 'day.share', { percent });
  return [share, list.length ? t('day.missing', { list: list.join(', ') }) : '', all].filter(Boolean).join(' ');
}

const order = ['plan', 'take', 'fault', 'marker'];

/**
 * What happened on a day, by time.
 * @returns {{at: number, kind: 'plan' | 'take' | 'fault' | 'marker', text: string, more: string, link: string}[]} `at` in seconds of the
 * day, negative for a take that began before. An empty `link` leads nowhere.
 */
export function eventsOf({ takes, markers, planned = [], faults }, timeOf, t) {
  const starts = new Map(takes.map(({ take, start_seconds: start }) => [take, start]));
  const events = [
    ...planned.map(({ from, until }) => ({ at: from, kind: 'plan', text: t('day.planned', { time: timeOf(until) }), more: shortText(until - from, t), link: '' })),
    ...takes.map((take) => ({ at: take.start_seconds, kind: 'take', text: nameText(take, t), more: shortText(take.seconds, t), link: takeLink(take.take) })),
    ...faults.map((fault) => ({
      at: fault.at_seconds, kind: 'fault', text: faultText(fault, t),
      more: fault.until_seconds > fault.at_seconds ? shortText(fault.until_seconds - fault.at_seconds, t) : '', link: '',
    })),
    ...markers.map(({ take, at_seconds: at, note }) => ({
      at, kind: 'marker', text: note || t('take.legend.marker'), more: note ? t('take.legend.marker') : '', link: takeLink(take, at - (starts.get(take) ?? at)),
    })),
  ];
  return events.sort((one, other) => one.at - other.at || order.indexOf(one.kind) - order.indexOf(other.kind));
}

/** The address of a take's page, which plays from a second. */
export function takeLink(stem, at = 0) {
  return `#/takes/${encodeURIComponent(stem)}${at > 0 ? `?at=${Number(at.toFixed(2))}` : ''}`;
}

/**
 * The take at a second of the day, else the nearest one within `slack` seconds; null if there is none.
 * @returns {{take: object, at: number} | null} `at` is the second of the take.
 */
export function takeAt(takes, second, slack) {
  let nearest = null;
  for (const take of takes) {
    const { from, until } = rangeOf(take);
    const distance = Math.max(0, from - second, second - until);
    // Of two takes that follow each other, the second one has the moment between them.
    const isNearer = distance <= slack && (!nearest || distance < nearest.distance || (distance === 0 && from === second));
    if (isNearer) nearest = { take, distance, at: distance ? 0 : second - from };
  }
  return nearest && { take: nearest.take, at: nearest.at };
}

// The lanes of a day's timeline below its spectrogram: levels, what was planned and recorded, and what was measured.

/** The levels of a range are coarse if they have fewer columns than this in view. */
const fewColumns = 300;
/** Finer levels are requested where the zoom rests this long, and all of them again this long after a failure, in milliseconds. */
const restMilliseconds = 200;
const againMilliseconds = 10_000;
/** The lowest level of the picture, in dBFS, and its lines. */
const lowest = -60;
const levelLines = [-20, -40];
/** A line of measurements is interrupted where there are none for this long, in seconds. */
const longestPause = 1800;
/** What is measured, the least range of its axis, and its colour. */
export const measures = [
  { name: 'battery', key: 'battery_volts', least: 0.2, decimals: 2, colour: 'wave', dash: [] },
  { name: 'temperature', key: 'temperature_c', least: 4, decimals: 0, colour: 'loss', dash: [5, 4] },
];

/** The greatest levels over the day, in dBFS, with the markers. */
export class LevelsLane {
  name = 'levels';
  height = '4rem';
  /** The levels of the whole day, and those around what is in view: `{ from, to, peaks }`. A peak is null where nothing was recorded. */
  #parts = [];
  #timer = 0;
  #wanted = null;

  /**
   * @param {object} options `t`, `frames` (of the day), `rate`, `places` (the markers), `timeText(frame)`, `load(from, to)` (a promise of the
   * levels of whole seconds), and `onLoad()` when more can be drawn.
   */
  constructor(options) {
    Object.assign(this, options);
    this.#request(0, this.frames);
  }

  close() {
    clearTimeout(this.#timer);
    this.#wanted = null;
  }

  /** The greatest level of a range of frames; null if nothing was recorded. */
  greatest(from, to) {
    const part = this.#parts.findLast((one) => one.from <= from && to <= one.to);
    if (!part) return null;
    const column = (frame) => ((frame - part.from) / (part.to - part.from)) * part.peaks.length;
    const first = Math.floor(column(from));
    const there = part.peaks.slice(first, Math.max(first + 1, Math.ceil(column(to) - 1e-6))).filter((peak) => peak !== null);
    return there.length ? Math.max(...there) : null;
  }

  async #request(from, to) {
    const wanted = { from, to };
    this.#wanted = wanted;
    const peaks = await this.load(from, to).catch(() => null);
    if (this.#wanted !== wanted) return;
    const [whole] = this.#parts;
    if (peaks) this.#parts = whole ? [whole, { from, to, peaks }] : [{ from, to, peaks }];
    else if (!whole) this.#timer = setTimeout(() => this.#request(from, to), againMilliseconds);
    if (peaks) this.onLoad();
  }

  /** Requests finer levels around what is in view once the zoom rests there. */
  #refine({ from, to, length }) {
    const [whole] = this.#parts;
    const isFine = this.#parts.some((part) => part.from <= from && to <= part.to && (length / (part.to - part.from)) * part.peaks.length >= fewColumns);
    if (!whole || isFine) return;
    clearTimeout(this.#timer);
    const seconds = (frame) => Math.round(frame / this.rate) * this.rate;
    const [start, end] = [Math.max(0, seconds(from - length / 2) - this.rate), Math.min(this.frames, seconds(to + length / 2) + this.rate)];
    this.#timer = setTimeout(() => this.#request(start, end), restMilliseconds);
  }

  describe(view) {
    const most = this.greatest(view.from, view.to);
    const { timeText } = this;
    return this.t('day.levels', { from: timeText(view.from), to: timeText(view.to), most: most === null ? '–' : `${signedText(most)} dBFS` });
  }

  draw(context, box, view, colours) {
    const y = (decibels) => Math.round(box.height * Math.min(1, Math.max(0, decibels / lowest)));
    context.fillStyle = colours.wave;
    const framesPerPixel = view.length / box.width;
    for (let x = 0; x < box.width; x++) {
      const peak = this.greatest(view.from + x * framesPerPixel, view.from + (x + 1) * framesPerPixel);
      if (peak === null) continue;
      const top = Math.min(box.height - box.scale, y(peak));
      context.fillRect(x, top, 1, box.height - top);
    }
    context.font = `600 ${box.text}px ${colours.font}`;
    context.textBaseline = 'bottom';
    context.lineJoin = 'round';
    context.lineWidth = 3 * box.scale;
    context.strokeStyle = colours.back;
    context.fillStyle = colours.text;
    for (const decibels of levelLines) {
      context.fillRect(0, y(decibels), box.width, 0.5 * box.scale);
      const label = `${signedText(decibels)}${decibels === levelLines[0] ? ' dB' : ''}`;
      context.strokeText(label, 0.6 * box.text, y(decibels));
      context.fillText(label, 0.6 * box.text, y(decibels));
    }
    drawPlaces(context, box, view, { filter: [] }, this.places, colours);
    this.#refine(view);
  }
}

/** What was planned as frames, what was recorded as bars in them, and faults hatched below, with a point where they began. */
export class HoursLane {
  name = 'hours';
  height = '2.25rem';

  /**
   * @param {{planned?: object[], takes: object[], faults: object[]}} day
   * @param {number} rate Frames in a second.
   * @param {number} end Up to which second faults are shown that have not ended.
   */
  constructor({ planned = [], takes, faults }, rate, end) {
    const frames = ({ from, until }) => ({ at_frame: from * rate, until_frame: until * rate });
    this.planned = planned.map(frames);
    this.takes = takes.map((take) => frames(rangeOf(take)));
    this.faults = faults.map((fault) => frames(faultRange(fault, end)));
  }

  draw(context, box, view, colours) {
    const { scale } = box;
    const line = 1.5 * scale;
    const height = Math.round(0.7 * box.height);
    const bar = ({ at_frame: from, until_frame: until }, draw) => {
      if (until < view.from || from > view.to) return;
      const x = Math.round(xOf(from, box, view));
      draw(x, Math.max(2 * scale, Math.round(xOf(until, box, view)) - x));
    };
    context.fillStyle = colours.line;
    context.fillRect(0, Math.round(height / 2), box.width, scale);
    context.strokeStyle = colours.text;
    context.lineWidth = line;
    for (const range of this.planned) bar(range, (x, width) => context.strokeRect(x + line / 2, line, width - line, height - 2 * line));
    context.fillStyle = colours.wave;
    for (const range of this.takes) bar(range, (x, width) => context.fillRect(x, Math.round(height / 4), width, Math.round(height / 2)));
    const below = Math.round(0.78 * box.height);
    drawRanges(context, { ...box, y: below, height: box.height - below }, view, { gaps: this.faults }, colours);
    context.fillStyle = colours.gap;
    for (const range of this.faults) {
      bar(range, (x) => {
        context.beginPath();
        context.moveTo(x - 5 * scale, box.height);
        context.lineTo(x + 5 * scale, box.height);
        context.lineTo(x, box.height - 9 * scale);
        context.fill();
      });
    }
  }
}

/** Battery and temperature, each with an axis of its own. */
export class MeasuredLane {
  name = 'measured';
  height = '3.5rem';

  /** @param {object[]} measured @param {number} rate Frames in a second. */
  constructor(measured, rate) {
    Object.assign(this, { rate });
    this.lines = measures.map((measure) => ({ ...measure, points: pointsOf(measured, measure) })).filter(({ points }) => points.length);
  }

  draw(context, box, view, colours) {
    const margin = 3 * box.scale;
    context.lineJoin = 'round';
    context.lineWidth = 2 * box.scale;
    for (const { points, least, colour, dash } of this.lines) {
      const range = rangeOfValues(points);
      const span = Math.max(least, range.most - range.least);
      const y = (value) => box.height - margin - ((value - (range.least + range.most - span) / 2) / span) * (box.height - 2 * margin);
      context.strokeStyle = colours[colour];
      context.setLineDash(dash.map((length) => length * box.scale));
      context.beginPath();
      points.forEach(({ at, value }, index) => {
        const x = xOf(at * this.rate, box, view);
        if (index > 0 && at - points[index - 1].at <= longestPause) context.lineTo(x, y(value));
        else context.moveTo(x, y(value));
      });
      context.stroke();
    }
    context.setLineDash([]);
  }
}

/** The values of one measure by time. */
export function pointsOf(measured, { key }) {
  return measured.filter((record) => record[key] !== undefined && record[key] !== null).map((record) => ({ at: record.at_seconds, value: record[key] }));
}

export function rangeOfValues(points) {
  const values = points.map(({ value }) => value);
  return { least: Math.min(...values), most: Math.max(...values) };
}
