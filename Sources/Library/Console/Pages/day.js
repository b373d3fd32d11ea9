// The page of a day: the calendar, 24 hours of sound with what was planned and what happened, and the same as a list.
import { AnswerOrder } from './api.js';
import {
  coverage, coverageText, dayName, dayPath, eventsOf, HoursLane, laterDay, LevelsLane, MeasuredLane, rangeOf, rangeOfValues, readDay, secondsOf,
  takeAt,
} from './day-facts.js';
import { button, field, h, hasCommandKey, setText } from './dom.js';
import { clockText, dayText, firstWeekday, minuteText, monthText, nameText, numberText, shortText, weekdayText } from './format.js';
import { Queue, soundOf } from './sound.js';
import { SpectrumLane } from './spectrum.js';
import { bandChoice, bandsOf, takePath, zoomButtons } from './take-actions.js';
import { counted } from './texts.js';
import { Timeline } from './timeline.js';
import { TimeLane } from './waveform.js';

// A month of days: how long each was recorded, by colour, bar and text, and whether there were faults.

/** Each shade begins with so many recorded hours. */
const shades = [0, 1, 4, 12];
const wholeDay = 86_400;
/** The steps of the arrow keys in days. */
const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** A calendar that is not open shows the week of the day, and others up to so many. */
const fewWeeks = 3;

/** The days of months as they were answered last, by the text of the month. A calendar shows them at once. */
const known = new Map();

/** The text of a month, `2026-11`. */
export function monthName(date) { return dayName(date).slice(0, 7); }

/**
 * The weeks of a month.
 * @param {number} firstDay The first day of a week, from 1 for Monday to 7.
 * @returns {(Date | null)[][]} Weeks of 7 days; null for those of other months.
 */
export function weeksOf(date, firstDay) {
  const start = new Date(date.getFullYear(), date.getMonth(), 1);
  const before = (start.getDay() - firstDay + 7) % 7;
  const count = new Date(date.getFullYear(), date.getMonth() + 1, 0).getDate();
  return Array.from({ length: Math.ceil((before + count) / 7) }, (_, week) => Array.from({ length: 7 }, (_day, at) => {
    const day = 7 * week + at - before;
    return day >= 0 && day < count ? laterDay(start, day) : null;
  }));
}

/** The first and the last of the few weeks that end with that of a day, or begin with the month. */
export function fewAround(weeks, date) {
  const week = weeks.findIndex((days) => days.some((day) => day && dayName(day) === dayName(date)));
  const last = Math.min(weeks.length, Math.max(fewWeeks, week + 1)) - 1;
  return { first: last - fewWeeks + 1, last };
}

/** The shade of a day with so many recorded seconds, 0 to 4. */
export function shadeOf(seconds) { return seconds > 0 ? shades.filter((hours) => seconds >= 3600 * hours).length : 0; }

/** The recorded time in one unit. */
export function roundText(seconds, t) {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes < 60 ? t('span.minutes', { n: minutes }) : t('span.hours', { n: Math.round(minutes / 60) });
}

/** The facts of a day in words. */
export function factsText(day, t) {
  if (!day?.takes && !day?.faults) return t('day.cell.none');
  return [
    day.takes ? counted(t, 'takes.count', day.takes) : '', day.seconds > 0 ? shortText(day.seconds, t) : '',
    day.faults ? counted(t, 'day.faults', day.faults) : '',
  ].filter(Boolean).join(', ');
}

class Calendar {
  /** @param {object} options `t`, `get(path)`, `day` and `today` (the beginnings of days), `onFail(error)`. */
  constructor(options) {
    Object.assign(this, options);
    const { t } = this;
    this.month = this.day;
    // A month takes half of a phone's screen.
    this.isOpen = matchMedia('(min-width: 48rem)').matches;
    this.toggle = button('', () => this.#open(!this.isOpen));
    this.heading = h('h2', { id: 'month', 'aria-live': 'polite' }, this.toggle);
    this.table = h('table', { role: 'grid', 'aria-labelledby': 'month', onkeydown: (event) => this.#key(event) });
    this.element = h('section', { class: 'calendar', 'aria-labelledby': 'month' },
      h('div', { class: 'calendar-top' }, button('‹', () => this.#turn(-1), { 'aria-label': t('day.month.previous') }), this.heading,
        button('›', () => this.#turn(1), { 'aria-label': t('day.month.next') }), h('a', { class: 'button', href: '#/day' }, t('takes.when.today'))),
      this.table);
    this.#draw();
    this.load();
  }

  /** Requests the shown month. */
  async load() {
    const name = monthName(this.month);
    try {
      const { days } = await this.get(dayPath('', { month: name }));
      const found = JSON.stringify(days);
      if (known.get(name) === found) return;
      known.set(name, found);
      if (name === monthName(this.month)) this.#draw();
    } catch (error) {
      this.onFail(error);
    }
  }

  #turn(months) {
    this.month = new Date(this.month.getFullYear(), this.month.getMonth() + months, 1);
    this.#open(true);
    this.load();
  }

  /** Shows all weeks of the month, or few. */
  #open(isOpen) {
    this.isOpen = isOpen;
    this.#draw();
  }

  #draw() {
    const days = new Map(JSON.parse(known.get(monthName(this.month)) ?? '[]').map((day) => [day.date, day]));
    const focused = this.table.contains(document.activeElement) ? document.activeElement.dataset.day : null;
    const weeks = weeksOf(this.month, firstWeekday());
    const week = weeks[1];
    const { first, last } = this.isOpen ? { first: 0, last: weeks.length } : fewAround(weeks, this.day);
    this.toggle.textContent = `${monthText(this.month)} ${this.isOpen ? '▴' : '▾'}`;
    this.toggle.setAttribute('aria-expanded', String(this.isOpen));
    this.table.replaceChildren(
      h('thead', {}, h('tr', {}, ...week.map((day) => h('th', { scope: 'col', abbr: weekdayText(day, 'long') }, weekdayText(day, 'short'))))),
      h('tbody', {}, ...weeks.map((each, index) => h('tr', { hidden: index < first || index > last }, ...each.map((day) => (day ? this.#cell(day, days.get(dayName(day))) : h('td', {})))))));
    const links = [...this.table.querySelectorAll('tr:not([hidden]) a')];
    const stop = links.find((link) => link.dataset.day === (focused ?? dayName(this.day))) ?? links.at(-1);
    if (stop) stop.tabIndex = 0;
    if (focused) stop?.focus();
  }

  #cell(day, facts) {
    const { t } = this;
    const seconds = facts?.seconds ?? 0;
    const number = h('span', { class: 'calendar-number' }, String(day.getDate()));
    // There is nothing to see of days to come.
    if (day > this.today && !facts) return h('td', { class: 'is-later' }, number);
    const bar = h('span', { class: 'calendar-bar', hidden: !seconds });
    bar.style.setProperty('width', `${Math.min(100, (100 * seconds) / wholeDay)}%`);
    const name = dayName(day);
    return h('td', {}, h('a', {
      class: `is-shade-${shadeOf(seconds)}${facts?.faults ? ' has-faults' : ''}`, href: `#/day/${name}`, 'data-day': name, tabindex: -1,
      'aria-label': `${dayText(day, false)}: ${factsText(facts, t)}`, 'aria-current': name === dayName(this.day) ? 'date' : null,
    }, number, h('span', { class: 'calendar-hours' }, seconds ? roundText(seconds, t) : ''), bar));
  }

  /** The arrow keys go from day to day, so that the tab key passes over the days. */
  #key(event) {
    const step = steps[event.key];
    const from = event.target.dataset.day;
    if (!step || !from || hasCommandKey(event)) return;
    event.preventDefault();
    const link = this.table.querySelector(`[data-day='${dayName(laterDay(readDay(from), step))}']`);
    if (!link) return;
    event.target.tabIndex = -1;
    link.tabIndex = 0;
    link.closest('tr').hidden = false;
    link.focus();
  }
}

/** Frames of the time axis in a second: the finest columns of the spectrogram. */
const rate = 8;
/** The frequencies of the picture until those of the sound are known. */
const usualRate = 48_000;
const levelColumns = 1440;
/** The nearest take within this many pixels is played, because a short one is narrower than a finger. */
const tapPixels = 14;
/** A tap plays after this time, in milliseconds, unless it was the first one of a double tap, which zooms. */
const tapMilliseconds = 400;
/** The arrow keys divide the picture into so many steps. */
const keySteps = 48;
const fewEvents = 60;
const refreshMilliseconds = 1500;

/** The band that was chosen last. */
let chosenBand = 'all';

/**
 * Shows a day.
 * @param {HTMLElement} root
 * @param {string} [name] `2026-11-27`; today if it is missing or no day.
 * @param {object} context The console's context.
 * @returns {() => void} Ends the page.
 */
export function dayPage(root, name, context) {
  const page = new DayPage(root, name, context);
  page.load();
  return () => page.close();
}

class DayPage {
  #isClosed = false;
  #found = '';
  #order = new AnswerOrder();
  #isListWhole = false;
  #frame = 0;
  #tapTimer = 0;
  #refreshTimer = 0;
  /** Whether the playhead is where it plays; false once a person has moved it. */
  #follows = true;

  constructor(root, name, context) {
    Object.assign(this, { context, t: context.t, sound: soundOf(context) });
    const today = readDay(dayName(this.#now));
    this.date = readDay(name ?? '') ?? today;
    this.name = dayName(this.date);
    this.seconds = secondsOf(this.date);
    this.calendar = new Calendar({
      t: this.t, get: (path) => context.api.get(path), day: this.date, today, onFail: (error) => { if (!this.#isClosed) context.fail(error); },
    });
    this.heading = h('h1', {}, dayText(this.date, false));
    this.summary = h('p', { class: 'day-summary' });
    this.view = h('div', { class: 'day-view' }, h('p', { role: 'status' }, this.t('takes.loading')));
    root.append(h('div', { class: 'day' }, h('div', { class: 'day-top' }, this.heading, this.#otherDays()), this.calendar.element, this.view));
    window.scrollTo(0, 0);
    this.unsubscribe = [
      context.events.on('catalog', () => this.#refreshSoon()),
      context.events.on('status', () => { if (this.#isSoFar) this.#summarize(); }),
      context.events.on('connection', ({ isConnected }) => {
        if (isConnected && this.wasAway) this.#refreshSoon();
        this.wasAway = !isConnected;
      }),
      this.sound.on((player) => this.#follow(player)),
    ];
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#tapTimer);
    clearTimeout(this.#refreshTimer);
    for (const end of this.unsubscribe) end();
    this.timeline?.close();
  }

  /** The kit's time. */
  get #now() { return new Date(Date.now() - (this.context.api.clockDifference ?? 0)); }

  /** The end of what has happened, in seconds of the day. */
  get #end() { return Math.min(this.seconds, Math.max(0, (this.#now - this.date) / 1000)); }

  get #isSoFar() { return this.#end < this.seconds; }

  /** Requests the day, and shows it. */
  async load() {
    const isNewest = this.#order.ask();
    const day = await this.context.api.get(dayPath(this.name)).catch((error) => error);
    const found = JSON.stringify(day);
    if (this.#isClosed || found === this.#found || !isNewest()) return;
    // The picture stays while fingers are on it.
    if (this.timeline?.isTouched) {
      this.#refreshSoon();
      return;
    }
    if (!(day instanceof Error)) {
      this.#found = found;
      this.#show(day);
    } else if (!this.#found) {
      this.view.replaceChildren(h('p', { role: 'alert' }, day.message), button(this.t('page.again'), () => this.load()));
    }
  }

  #refreshSoon() {
    this.#refreshTimer ||= setTimeout(() => {
      this.#refreshTimer = 0;
      this.load();
      this.calendar.load();
    }, refreshMilliseconds);
  }

  #otherDays() {
    const { t, date } = this;
    const link = (sign, key, days) => h('a', { class: 'button', href: `#/day/${dayName(laterDay(date, days))}`, 'aria-label': t(key) }, sign);
    return h('nav', { class: 'row', 'aria-label': t('day.days') },
      link('‹', 'day.previous', -1), link('›', 'day.next', 1));
  }

  #show(day) {
    const { t } = this;
    const hadFocus = this.view.contains(document.activeElement);
    const before = this.timeline?.view;
    this.timeline?.close();
    this.day = day;
    this.timeline = this.#makeTimeline();
    this.#summarize();
    const events = eventsOf(day, (seconds) => minuteText(this.#dateOf(seconds)), t);
    this.view.replaceChildren(...[this.summary, this.timeline && this.#picture(), events.length ? this.#list(events) : null].filter(Boolean));
    if (before) this.timeline?.show(before.from, before.to);
    else this.#frame = rate * Math.max(0, day.takes[0]?.start_seconds ?? 0);
    if (this.timeline) this.#go(this.#frame);
    if (hadFocus) this.heading.focus({ preventScroll: true });
  }

  /** Says how much was recorded. A take that is being recorded counts. */
  #summarize() {
    if (!this.day) return;
    const { takes } = this.day;
    const { state, elapsed_seconds: elapsed } = this.context.status() ?? {};
    const running = this.#isSoFar && state === 'recording' ? [{ from: this.#end - elapsed, until: this.#end }] : [];
    const text = coverageText(coverage(this.day, [...takes.map(rangeOf), ...running], this.#end), takes.length, this.#isSoFar, this.t);
    setText(this.summary, text);
  }

  /** A timeline of what there is; null if there is nothing. */
  #makeTimeline() {
    const { t, day, name, seconds } = this;
    const time = { take: name, frames: seconds * rate, rate_hz: rate, duration_seconds: seconds, channels: 1 };
    const timeText = (frame) => (frame === time.frames ? '24:00' : clockText(this.#dateOf(frame / rate), false));
    const onLoad = () => this.timeline?.draw();
    this.measured = new MeasuredLane(day.measured, rate);
    this.spectrum = null;
    const lanes = [];
    if (day.takes.length) {
      this.spectrum = new SpectrumLane(time, {
        t, onLoad, timeText, rate: usualRate, onRate: () => this.#offerBands(),
        addresses: ({ from, to, columns }) => [dayPath(`${name}/spectrum`, { columns, from: from / rate, until: to / rate })],
      });
      const places = day.markers.map(({ at_seconds: at, note }) => ({ at_frame: at * rate, note }));
      lanes.push(this.spectrum, new LevelsLane({ t, timeText, places, frames: time.frames, rate, load: (from, to) => this.#loadLevels(from, to), onLoad }));
    }
    if (day.takes.length || day.faults.length || day.planned?.length) lanes.push(new HoursLane(day, rate, this.#end));
    if (this.measured.lines.length) lanes.push(this.measured);
    if (!lanes.length) return null;
    const tickText = (second) => (Number.isInteger(second / 60) ? minuteText : clockText)(this.#dateOf(second), false);
    const timeline = new Timeline(time, [...lanes, new TimeLane(rate, { timeText: tickText, spacing: 5 })], {
      t, label: t('day.position'), timeText: (second) => this.#hereText(second), onSeek: (frame) => this.#tap(frame),
    });
    timeline.touch.setAttribute('aria-describedby', 'day-keys');
    timeline.touch.addEventListener('keydown', (event) => this.#key(event));
    return timeline;
  }

  async #loadLevels(from, to) {
    return (await this.context.api.get(dayPath(`${this.name}/waveform`, { columns: levelColumns, from: from / rate, until: to / rate }))).peaks;
  }

  #picture() {
    const { t, timeline } = this;
    this.bands = h('div', {});
    // A screen reader has it as the value of the slider.
    this.here = h('p', { class: 'day-here', 'aria-hidden': 'true' });
    this.#offerBands();
    return h('div', { class: 'day-picture' }, timeline.element, this.here,
      h('div', { class: 'row' }, zoomButtons(timeline, t, t('day.whole')), this.bands), this.#legend(),
      h('p', { id: 'day-keys', class: 'dim' }, t('day.keys')));
  }

  /** The bands of the sound, if there are several. */
  #offerBands() {
    if (!this.spectrum || !this.bands) return;
    const { t, spectrum } = this;
    const bands = new Map(bandsOf(spectrum.rate));
    const choose = (name) => {
      chosenBand = name;
      spectrum.set(bands.get(name) ?? bands.get('all'));
    };
    choose(chosenBand);
    this.bands.replaceChildren(...(bands.size > 1 ? [field(t('spectrum.band'), bandChoice(spectrum.rate, chosenBand, choose, t))] : []));
  }

  #legend() {
    const { t, day } = this;
    const signs = [
      ['take', day.takes.length, t('day.legend.take')], ['plan', day.planned?.length, t('day.legend.plan')],
      ['gap', day.faults.length, t('day.legend.fault')], ['marker', day.markers.length, t('take.legend.marker')],
      ...this.measured.lines.map(({ name, points, decimals }) => {
        const { least, most } = rangeOfValues(points);
        return [name, 1, t(`day.${name}`, { least: numberText(least, decimals), most: numberText(most, decimals) })];
      }),
    ].filter(([, count]) => count);
    return h('ul', { class: 'legend plain', role: 'list', 'aria-label': t('take.legend') }, ...signs.map(([name, , text]) => h('li', { class: `is-${name}` }, text)));
  }

  #list(events) {
    const { t } = this;
    const few = this.#isListWhole ? events.length : fewEvents;
    const list = h('ol', { class: 'plain day-events', role: 'list' }, ...events.slice(0, few).map((event) => this.#item(event)));
    const rest = events.slice(few);
    const more = button(t('day.events.all', { n: events.length }), () => {
      this.#isListWhole = true;
      const items = rest.map((event) => this.#item(event));
      list.append(...items);
      more.remove();
      items[0].tabIndex = -1;
      items[0].focus();
    });
    return h('section', { class: 'card', 'aria-labelledby': 'day-events' }, h('h2', { id: 'day-events' }, t('day.events')), list, rest.length ? more : null);
  }

  #item({ at, kind, text, more, link }) {
    const time = clockText(this.#dateOf(at), false);
    return h('li', { class: `is-${kind}` },
      h('span', { class: 'day-time' }, at < 0 ? this.t('day.before', { time }) : time),
      link ? h('a', { href: link }, text) : h('span', {}, text), h('span', { class: 'dim' }, more));
  }

  #dateOf(second) { return new Date(this.date.getTime() + 1000 * second); }

  /** What is at a second, in words. */
  #hereText(second) {
    const found = takeAt(this.day.takes, second, 0);
    return this.t('day.at', { time: clockText(this.#dateOf(second), false), what: found ? nameText(found.take, this.t) : this.t('day.cell.none') });
  }

  #tap(frame) {
    this.#point(frame);
    clearTimeout(this.#tapTimer);
    const { length } = this.timeline.view;
    this.#tapTimer = setTimeout(() => { if (this.timeline.view.length === length) this.#play(); }, tapMilliseconds);
  }

  #go(frame) {
    this.#frame = Math.min(this.seconds * rate, Math.max(0, frame));
    this.timeline.setFrame(this.#frame);
    const text = this.#hereText(this.#frame / rate);
    setText(this.here, text);
  }

  /** Moves the playhead at a person's wish. */
  #point(frame) {
    this.#follows = false;
    this.#go(frame);
  }

  /** Moves the playhead with the sound, if it is of this day. */
  #follow(player) {
    if (!this.#follows || !this.timeline || !player?.isPlaying) return;
    const { take, frame } = player;
    const found = this.day.takes.find((one) => one.take === take.take);
    if (!found) return;
    this.#go(rate * (found.start_seconds + frame / take.rate_hz));
    this.timeline.follow();
  }

  /** Plays the take at the playhead from there, and then the next ones of the day. */
  async #play() {
    const { timeline, context, day, sound } = this;
    const slack = (tapPixels * timeline.view.length) / rate / Math.max(1, timeline.box.clientWidth);
    const found = takeAt(day.takes, this.#frame / rate, slack);
    if (!found) {
      context.announce(this.here.textContent);
      return;
    }
    try {
      const { take } = await context.api.get(takePath(found.take.take));
      if (this.#isClosed) return;
      this.#follows = true;
      sound.playFrom(take, new Queue(day.takes.map((one) => one.take)), found.at * take.rate_hz);
    } catch (error) {
      if (!this.#isClosed) context.fail(error);
    }
  }

  #toggle() {
    const { player } = this.sound;
    if (player?.isPlaying) player.pause();
    else this.#play();
  }

  #key(event) {
    if (hasCommandKey(event)) return;
    const { timeline } = this;
    const to = (frame) => () => {
      this.#point(frame);
      timeline.reveal();
    };
    const step = (parts) => to(this.#frame + timeline.view.length / parts);
    const actions = {
      ArrowLeft: step(-keySteps), ArrowRight: step(keySteps), ArrowDown: step(-keySteps), ArrowUp: step(keySteps), PageDown: step(-keySteps / 8), PageUp: step(keySteps / 8),
      Home: to(0), End: to(this.seconds * rate), Enter: () => this.#play(), ' ': () => this.#toggle(),
      '+': () => timeline.zoom(0.5), '=': () => timeline.zoom(0.5), '-': () => timeline.zoom(2), '−': () => timeline.zoom(2), 0: () => timeline.show(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}
