// Times, lengths and sizes as text, in the browser's language and time zone.

const named = document.documentElement.lang;
// The regional form that the browser prefers, within the page's language.
const language = navigator.languages.find((name) => name.startsWith(named)) ?? named;
const formats = new Map();

function dateFormat(name, options) {
  if (!formats.has(name)) formats.set(name, new Intl.DateTimeFormat(language, options));
  return formats.get(name);
}

const day = { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' };
const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' };

/** The start of a take, by the most accurate known clock. */
export const begun = (take) => new Date(take.started_corrected ?? take.started);

/** The day, local to the browser or in UTC. */
export function dayText(date, isUTC) {
  return isUTC ? dateFormat('utc-day', { ...day, timeZone: 'UTC' }).format(date) : dateFormat('day', day).format(date);
}

/** The time of day, local to the browser or in UTC. */
export function clockText(date, isUTC) {
  return isUTC ? `${dateFormat('utc', { ...clock, timeZone: 'UTC' }).format(date)} UTC` : dateFormat('clock', clock).format(date);
}

export function dateText(date, isUTC) {
  const options = { dateStyle: 'medium', timeStyle: 'medium' };
  return isUTC ? `${dateFormat('utc-date', { ...options, timeZone: 'UTC' }).format(date)} UTC` : dateFormat('date', options).format(date);
}

/** Seconds as `1:02:03`, optionally with decimals. */
export function lengthText(seconds, decimals = 0) {
  const scale = 10 ** decimals;
  const whole = Math.floor(Math.max(0, seconds) * scale + 1e-6);
  const total = Math.floor(whole / scale);
  const two = (number) => String(number).padStart(2, '0');
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  const front = hours ? `${hours}:${two(minutes)}` : `${minutes}`;
  const back = decimals ? `.${String(whole % scale).padStart(decimals, '0')}` : '';
  return `${front}:${two(total % 60)}${back}`;
}

/** The seconds of a text such as `1:02.5` or `1:02:03`, or null if it is malformed. */
export function readLength(text) {
  const match = /^(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)$/.exec(text);
  return match && Number(match[1] ?? 0) * 3600 + Number(match[2]) * 60 + Number(match[3]);
}

/** A number in the browser's language. */
export function numberText(number, decimals = 0) {
  return number.toLocaleString(language, { maximumFractionDigits: decimals });
}

/** Bytes with a unit based on 1000. */
export function sizeText(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${numberText(bytes / 1000 ** power, power > 1 ? 1 : 0)} ${units[power]}`;
}
