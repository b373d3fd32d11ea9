// The settings as the kit has them, their values in words and from words, and their groups.
import { numberText } from './format.js';
import { counted } from './texts.js';

// The values of settings in words, with their units. Pure.

const units = {
  _hz: 'Hz', _db: 'dB', _db_per_octave: 'dB/oct', _milliseconds: 'ms', _seconds: 's', _minutes: 'min', _mib: 'MiB', _cents: 'cent', _volts: 'V',
  _kbit_per_second: 'kbit/s', '.volume': '%', '.speed': '×', '_ratio': '×',
};
/** Units of a larger kind: the factor, and the unit. A value is shown in the larger unit if it then has few decimals. */
const larger = { Hz: [1000, 'kHz'], s: [60, 'min'], min: [60, 'h'], MiB: [1024, 'GiB'], 'kbit/s': [1000, 'Mbit/s'] };

/** The unit of a key's numbers, by its name; empty if they have none. */
export const unitOf = (name) => Object.entries(units).find(([end]) => name.endsWith(end))?.[1] ?? '';

/** What a number in the file is multiplied by to be shown. */
export const scaleOf = (name) => (unitOf(name) === '%' ? 100 : 1);

/** A text of the catalogue, or another one if there is none. */
export function textOr(t, key, other) {
  const text = t(key);
  return text === key ? other : text;
}

/** A number with its unit: `8 kHz`, `60 s`, `1 min`. */
export function quantityText(name, number) {
  const unit = unitOf(name);
  const [factor, greater] = larger[unit] ?? [0, ''];
  const shown = number * scaleOf(name);
  // 90 s stay seconds, and 48 100 Hz are 48.1 kHz.
  const isGreater = factor > 0 && shown >= factor && (factor === 60 ? shown % factor === 0 : true);
  const text = numberText(isGreater ? shown / factor : shown, 3);
  return unit ? `${text} ${isGreater ? greater : unit}` : text;
}

const minuteOf = (text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
const two = (number) => String(number).padStart(2, '0');
const day = 1440;
/** The time of a minute of the day; the end of a day is 24:00. */
const timeOf = (minute) => (minute === day ? '24:00' : `${two(Math.floor(minute / 60) % 24)}:${two(minute % 60)}`);

/**
 * Hours such as `22:00-06:00`, joined where they touch or overlap, in order.
 * @param {string[]} hours
 * @returns {[number, number][]} Minutes of the day; an end after midnight is above 1440. A whole day is `[0, 1440]`.
 */
export function joinedHours(hours) {
  const spans = hours.map((text) => text.split('-').map(minuteOf)).map(([from, until]) => [from, until > from ? until : until + day])
    .sort(([a], [b]) => a - b);
  const joined = [];
  for (const [from, until] of spans) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], until);
    else joined.push([from, until]);
  }
  // Hours after midnight may reach into the first ones.
  while (joined.length > 1 && joined.at(-1)[1] >= joined[0][0] + day) {
    const [, until] = joined.shift();
    joined.at(-1)[1] = Math.max(joined.at(-1)[1], until + day);
  }
  return joined.length && joined[0][1] - joined[0][0] >= day ? [[0, day]] : joined;
}

/** How many seconds of a day the hours are. */
export const hoursLength = (hours) => joinedHours(hours).reduce((sum, [from, until]) => sum + (until - from) * 60, 0);

/** Hours in words: `05:00–07:30, 19:00–21:00`. */
export function hoursText(hours, t) {
  const joined = joinedHours(hours);
  if (!joined.length) return t('hours.none');
  if (joined[0][1] - joined[0][0] === day) return t('hours.all');
  return joined.map(([from, until]) => `${timeOf(from)}–${timeOf(until)}`).join(', ');
}

/** The line or LED of a button or lamp. */
function lineText({ line, led, chip, offset, active_low: isLow, pull }, t) {
  return [line ?? led ?? `${chip} ${offset}`, isLow === undefined ? '' : t(isLow ? 'wire.low' : 'wire.high'), pull ? t(`wire.pull.${pull}`) : '']
    .filter(Boolean).join(', ');
}

/** A value of a key in words. Undefined is what the key is without a value. */
export function valueText(name, value, t) {
  if (value === undefined || value === null || value === '') return textOr(t, `word.${name}.none`, t('word.none'));
  if (Array.isArray(value)) {
    if (name === 'schedule.record') return hoursText(value, t);
    if (name === 'capture.channels') return t('deck.channels.some', { list: value.join(', ') });
    return value.length ? value.map((one) => valueText(name, one, t)).join(', ') : t('word.none');
  }
  if (typeof value === 'object') return lineText(value, t);
  const word = textOr(t, `word.${name}.${value}`, null);
  if (word !== null) return word;
  if (typeof value === 'boolean') return t(`word.${value}`);
  if (typeof value === 'number') return name === 'capture.channels' ? t('channels.first', { n: value }) : quantityText(name, value);
  return name === 'outbox.window' && value !== 'always' ? hoursText([value], t) : textOr(t, `word.${value}`, value);
}

/** The default of a key in words. */
export function defaultText(name, entry, t) {
  return entry.default === undefined ? textOr(t, `default.${name}`, t('word.none')) : valueText(name, entry.default, t);
}

// What kind of value a setting has, and how a text or rows of times become such a value. Pure.

/** The kind of a key's field. */
export function kindOf(name, entry) {
  if (!entry.changeable) return 'fixed';
  const own = {
    'kit.time_zone': 'zone', 'capture.card': 'card', 'playback.card': 'card', 'capture.rate_hz': 'rate', 'capture.channels': 'channels',
    'takes.directory': 'folder', 'schedule.record': 'hours', 'outbox.window': 'window', 'outbox.store': 'stores', 'power.supply': 'supply',
    'power.low_battery': 'line',
  }[name];
  if (own) return own;
  if (/^panel\.(buttons|leds)\./.test(name)) return 'line';
  if (entry.values?.length === 2 && entry.values.includes('true')) return 'toggle';
  if (entry.values) return 'choice';
  return entry.least === undefined ? 'text' : 'number';
}

/**
 * A text as a number of the file. An empty one is the default.
 * @throws {Error} With a sentence, if it is no number, or one that is not allowed.
 */
export function readNumber(name, entry, text, t) {
  if (text.trim() === '') return undefined;
  const number = Number(text.trim().replace(',', '.').replace('−', '-')) / scaleOf(name);
  if (!Number.isFinite(number)) throw new Error(t('field.number'));
  if (number < entry.least || number > entry.most) {
    throw new Error(t('field.range', { least: quantityText(name, entry.least), most: quantityText(name, entry.most) }));
  }
  // 29 % of the file are 0.29.
  return Number(number.toPrecision(12));
}

/**
 * The rows of a field of hours as the file has them: 00:00 to 00:00 is the whole day.
 * @param {[string, string][]} rows
 */
export function readHours(rows, t) {
  return rows.flatMap(([from, until]) => {
    if (!from || !until) throw new Error(t('field.hours.missing'));
    if (from === until) {
      if (from === '00:00') return ['00:00-12:00', '12:00-24:00'];
      throw new Error(t('field.hours.equal'));
    }
    return [`${from}-${until === '00:00' ? '24:00' : until}`];
  });
}

/** The channels in a text such as `1, 3`. */
export function readChannels(text, t) {
  const numbers = text.split(/[\s,;]+/).filter(Boolean).map(Number);
  if (!numbers.length || numbers.some((number) => !Number.isInteger(number) || number < 1)) throw new Error(t('field.channels'));
  if (new Set(numbers).size < numbers.length) throw new Error(t('field.channels.twice'));
  return numbers;
}

/** Whether two values are the same in the file. */
export const isSame = (one, other) => stable(one) === stable(other);
const stable = (value) => JSON.stringify(value, (_, part) => (part && typeof part === 'object' && !Array.isArray(part)
  ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part));

// Which settings are shown, in which groups, and what a group says in few words. Pure.

/** What a technician sets first. */
const first = {
  name: ['kit.name', 'kit.time_zone'],
  card: ['capture.card', 'capture.rate_hz', 'capture.channels', 'capture.standby', 'capture.pre_roll_seconds'],
  gain: ['capture.gain_db', 'capture.agc'],
  filter: ['filter.low_pass_hz', 'filter.high_pass_hz', 'filter.slope_db_per_octave', 'filter.keep_unfiltered'],
  schedule: ['schedule.record', 'schedule.off_between'],
  upload: ['outbox.store', 'outbox.window', 'outbox.limit_kbit_per_second', 'outbox.keep_local'],
};

/** The keys of the settings, by their names with sections. */
export function entriesOf({ sections }) {
  return new Map(sections.flatMap(({ name, keys }) => keys.map((entry) => [`${name}.${entry.key}`, entry])));
}

/** The stores that need an address, and the key that has it. */
const addresses = {
  s3: 'outbox.s3.bucket', firebase: 'outbox.firebase.bucket', webdav: 'outbox.webdav.url', sftp: 'outbox.sftp.url', folder: 'outbox.folder.path',
  rclone: 'outbox.rclone.remote',
};

/** The stores that this kit can send to, and those that are set. */
export function storesOf(entries) {
  const set = [entries.get('outbox.store')?.in_force ?? []].flat();
  const known = Object.keys(addresses).filter((store) => entries.get(addresses[store])?.value !== undefined);
  return [...new Set(['auto', ...known, ...set])].filter((store) => store !== 'none');
}

/**
 * Whether a key is shown. What somebody has set is always shown.
 * @param {object} kit What the kit has, or null if it does not say so.
 * @param {object} status The last status, or null.
 */
function isOffered(name, entries, kit, status) {
  const entry = entries.get(name);
  if (entry.value !== undefined) return true;
  // What only the file can set needs no place here before it is set.
  if (!entry.changeable) return false;
  const store = /^outbox\.(\w+)\./.exec(name)?.[1];
  if (store) return entries.get(addresses[store])?.value !== undefined;
  if (name === 'capture.gain_db') return !status?.card || status.gain_range_db != null;
  if (name === 'capture.agc') return !status?.card || status.agc != null;
  if (name === 'power.supply_ratio' || name === 'power.low_volts') return entries.get('power.supply')?.value !== undefined;
  if (!kit) return true;
  if (name.startsWith('panel.') || name === 'power.low_battery') return kit.lines;
  if (name.startsWith('playback.')) return kit.playback;
  switch (name) {
    case 'schedule.off_between': return kit.alarm;
    case 'power.supply': return kit.supplies.length > 0;
    case 'power.governor': return kit.governors.length > 1;
    case 'power.wifi': return kit.wifi;
    case 'power.hdmi': return kit.hdmi;
    default: return true;
  }
}

/**
 * The groups of keys that are shown.
 * @returns {{first: {name: string, keys: string[]}[], more: {name: string, keys: string[]}[]}} A group of `more` is a section of the file.
 */
export function groupsOf(entries, kit, status) {
  const offered = (keys) => keys.filter((name) => entries.has(name) && isOffered(name, entries, kit, status));
  const isFirst = new Set(Object.values(first).flat());
  const sections = new Map();
  for (const name of entries.keys()) {
    const section = name.split('.')[0];
    if (!isFirst.has(name)) sections.set(section, [...sections.get(section) ?? [], name]);
  }
  const groups = (list) => list.map(([name, keys]) => ({ name, keys: offered(keys) })).filter(({ keys }) => keys.length);
  return { first: groups(Object.entries(first)), more: groups([...sections]) };
}

/** What a group says in few words: what is in force now, as far as the kit says so, else its settings. */
export function summaryOf(group, entries, { status, session }, t) {
  const value = (name) => entries.get(name)?.in_force;
  const text = (name) => valueText(name, value(name), t);
  switch (group) {
    case 'name': return session?.kit ?? text('kit.name');
    case 'card': {
      if (!status) return text('capture.card');
      if (!status.card) return t('deck.nocard');
      const channels = counted(t, 'deck.channels', status.channels);
      return [status.card, quantityText('capture.rate_hz', status.rate_hz), channels].join(', ');
    }
    case 'gain': {
      if (status?.agc) return t('gain.automatic');
      return status?.gain_db == null ? text('capture.gain_db') : quantityText('capture.gain_db', status.gain_db);
    }
    case 'filter': {
      const cutoffs = ['low_pass_hz', 'high_pass_hz'].map((key) => [key, status ? status[key] ?? 'off' : value(`filter.${key}`)]);
      const cuts = cutoffs.filter(([, cutoff]) => cutoff !== 'off');
      return cuts.map(([key, cutoff]) => t(`filter.${key}`, { value: valueText(`filter.${key}`, cutoff, t) })).join(', ') || t('filter.none');
    }
    case 'schedule': return text('schedule.record');
    case 'upload': {
      const stores = [value('outbox.store') ?? []].flat().filter((store) => store !== 'none');
      if (!stores.length) return t('word.outbox.store.none');
      const hours = value('outbox.window');
      return [text('outbox.store'), hours === undefined || hours === 'always' ? '' : text('outbox.window')].filter(Boolean).join(', ');
    }
    default: return '';
  }
}

/** How long a day the kit records by itself, in seconds; 0 without a schedule. */
export const scheduledSeconds = (entries) => hoursLength(entries.get('schedule.record')?.in_force ?? []);

// The settings as the kit has them: read, changed, and followed until a change is in force.

const pause = 1000;
const longPause = 5000;
/** In milliseconds: a change is carried out within the first time, and the services restart within the second one. */
const patience = 30_000;
const settling = 5000;

/** How far a change is, by the kit's outcome: `applied`, `waiting`, or `refused` with the reason; null without one. */
export function stateOf(outcome) {
  if (!outcome) return null;
  const [state] = /^\w+/.exec(outcome) ?? [''];
  if (state === 'applied' || state === 'waiting') return { state, why: '' };
  return { state: 'refused', why: outcome.replace(/^refused: /, '') };
}

export class SettingsStore {
  #watchers = new Set();
  #isEnded = false;
  /** The kit's last answer, or null before the first one. */
  settings = null;
  entries = new Map();

  #wait;
  #now;

  /** @param wait Waits for some milliseconds. @param now A clock in milliseconds. */
  constructor({ api }, wait = (time) => new Promise((end) => { setTimeout(end, time); }), now = () => performance.now()) {
    this.api = api;
    this.#wait = wait;
    this.#now = now;
  }

  get kit() { return this.settings?.kit ?? null; }

  /** Calls `watch` whenever the settings were read again. */
  watch(watch) { this.#watchers.add(watch); }

  end() { this.#isEnded = true; }

  async load() { this.#take(await this.api.get('/api/settings')); }

  #take(settings) {
    this.settings = settings;
    this.entries = entriesOf(settings);
    for (const watch of [...this.#watchers]) watch();
  }

  /**
   * Sends changes: values by key; null takes a key out of the file.
   * @throws {Error} With the kit's sentence. If somebody else changed the file, it was read again.
   */
  async send(changes) {
    try {
      await this.api.patch('/api/settings', { fingerprint: this.settings.fingerprint, changes });
    } catch (error) {
      if (error.status === 409) await this.load().catch(() => {});
      throw error;
    }
  }

  /**
   * Waits until the kit has carried out a change, and reads the settings again.
   * @param {(state: object) => void} report Receives each state. While a take is recorded, the kit waits, and so does this.
   */
  async follow(report) {
    const old = this.settings;
    const begin = this.#now();
    let isWaiting = false;
    while (!this.#isEnded && (isWaiting || this.#now() - begin < patience)) {
      await this.#wait(isWaiting ? longPause : pause);
      const now = await this.api.get('/api/settings').catch(() => null);
      if (this.#isEnded || !now) continue;
      const isNews = now.outcome !== old.outcome;
      if (now.fingerprint === old.fingerprint && !isNews) continue;
      if (now.fingerprint !== this.settings.fingerprint || now.outcome !== this.settings.outcome) this.#take(now);
      const state = stateOf(now.outcome);
      // The file is replaced before the services restart. An outcome that reads like the former one may be the former one.
      if (!state || (!isNews && this.#now() - begin < settling)) continue;
      report(state);
      isWaiting = state.state === 'waiting';
      if (!isWaiting) return;
    }
  }
}
