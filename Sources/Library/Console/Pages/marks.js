// Places in a take: a selection, and the marks of sidecar and markers in the picture; and the time axis.
import { lengthText, numberText } from './format.js';

// A selection in a take: a range of time, and a band of frequencies if it is a box.

/**
 * @typedef {{low: number, high: number}} Band In hertz.
 * @typedef {{from: number, to: number, band: Band | null}} Selection In frames.
 */

/**
 * The selection between two ends in any order, within the take; null if nothing is between them.
 * @param {{from: number, to: number, band?: Band | null}} ends
 * @param {{frames: number, rate_hz: number}} take
 * @returns {Selection | null}
 */
export function selected({ from, to, band = null }, take) {
  const [start, end] = ordered(from, to, take.frames);
  if (start === end) return null;
  const [low, high] = band ? ordered(band.low, band.high, take.rate_hz / 2) : [0, 0];
  return { from: start, to: end, band: low < high ? { low, high } : null };
}

function ordered(a, b, most) {
  return [a, b].map((value) => Math.round(Math.min(most, Math.max(0, value)))).sort((one, two) => one - two);
}

/**
 * The corner of a selection that stays where it is while another one is dragged.
 * @param {'nw' | 'ne' | 'sw' | 'se'} corner The dragged one. North has high frequencies, and west early ones.
 * @returns {{frame: number, hertz: number | null}}
 */
export function oppositeOf(corner, { from, to, band }) {
  return { frame: corner.endsWith('w') ? to : from, hertz: band && (corner.startsWith('n') ? band.low : band.high) };
}

/** The marker of a region. @param {Selection} selection */
export function regionOf({ from, to, band }) {
  return { at_frame: from, end_frame: to, ...(band && { low_hz: band.low, high_hz: band.high }) };
}

/** What a marker marks, as a region; without its note and a program's data. */
export function placeOf({ at_frame: from, end_frame: to, low_hz: low, high_hz: high }) {
  if (to === undefined) return { at_frame: from };
  return regionOf({ from, to, band: low === undefined || high === undefined ? null : { low, high } });
}

/** The selection of a marker; null if it marks no region. */
export function selectionOf({ at_frame: from, end_frame: to, low_hz: low, high_hz: high }, take) {
  return to === undefined ? null : selected({ from, to, band: low === undefined || high === undefined ? null : { low, high } }, take);
}

/** The address and the file name of a selection's clip, which has all frequencies. */
export function clipOf({ from, to }, stem, format) {
  return { url: `/api/takes/${encodeURIComponent(stem)}/clip?from=${from}&to=${to}&format=${format}`, name: `${stem}-${from}-${to}.${format}` };
}

/** A band such as `2.5–8 kHz`. One of its ends may be unknown. */
export function bandText(low, high) {
  const kilohertz = (hertz) => (hertz === undefined ? '' : numberText(hertz / 1000, hertz < 1000 ? 2 : 1));
  return `${kilohertz(low)}–${kilohertz(high)}\u00a0kHz`;
}

/** The hertz of a person's text in kHz, with a point or a comma; null if it is malformed. */
export function readKilohertz(text) {
  return /^\d+([.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) * 1000 : null;
}

// A sidecar's places in a take, as marks in the picture; and the time axis.

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

/** The picture's colours and font from the theme. `map`, `ink` and `halo` are those of a spectrogram. */
export function coloursOf(element) {
  const style = getComputedStyle(element);
  const names = ['wave', 'line', 'gap', 'loss', 'filter', 'marker', 'text', 'back', 'map', 'ink', 'halo'];
  const colours = names.map((name) => [name, style.getPropertyValue(`--wave-${name}`).trim()]);
  return { ...Object.fromEntries(colours), font: style.fontFamily };
}

/** Draws gaps and suspected losses behind the sound. */
export function drawRanges(context, box, view, sidecar, colours) {
  for (const gap of sidecar.gaps) {
    drawRange(context, box, view, gap.at_frame, gap.until_frame ?? gap.at_frame + gap.frames, colours.gap, 1);
  }
  for (const loss of sidecar.suspected_losses ?? []) {
    drawRange(context, box, view, loss.after_frame, loss.before_frame, colours.loss, -1);
  }
}

/** A hatched range. The direction of the hatching shows its kind to people who cannot distinguish the colours. */
function drawRange(context, box, view, from, to, colour, direction) {
  if (to < view.from || from > view.to) return;
  const x = xOf(Math.max(from, view.from), box, view);
  const width = Math.max(2 * box.scale, xOf(Math.min(to, view.to), box, view) - x);
  context.save();
  context.beginPath();
  context.rect(x, box.y, width, box.height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1.5 * box.scale;
  context.beginPath();
  const step = 7 * box.scale;
  const first = Math.floor((x - box.height) / step) * step;
  for (let at = first; at < x + width + box.height; at += step) {
    context.moveTo(at, direction > 0 ? box.y + box.height : box.y);
    context.lineTo(at + box.height, direction > 0 ? box.y : box.y + box.height);
  }
  context.rect(x, box.y, width, box.height);
  context.stroke();
  context.restore();
}

/** Draws markers, regions and filter changes in front of the sound. */
export function drawPlaces(context, box, view, sidecar, places, colours) {
  for (const change of sidecar.filter.slice(1)) drawFilter(context, box, view, change.at_frame, colours);
  const writeLabel = labels(context, box, { ...colours, ink: colours.marker, halo: colours.back }, 9 * box.scale);
  for (const place of places) {
    const { at_frame: frame, end_frame: end } = place;
    if (end === undefined) drawMarker(context, box, view, frame, colours.marker);
    else drawSpan(context, box, view, frame, end, colours.marker);
    if (isSeen(place, view)) writeLabel(place, xOf(frame, box, view), box.y);
  }
}

/**
 * Draws regions in front of a spectrogram, as boxes with their labels. A region without a band has all frequencies.
 * @param {import('./spectrum-paint.js').FrequencyScale} scale
 */
export function drawRegions(context, box, view, places, scale, colours) {
  const y = (hertz) => box.y + box.height * (1 - Math.min(1, Math.max(0, scale.share(hertz))));
  const writeLabel = labels(context, box, colours, 3 * box.scale);
  for (const place of places) {
    const { at_frame: from, end_frame: to, low_hz: low = scale.low, high_hz: high = scale.high } = place;
    if (to === undefined || !isSeen(place, view) || low >= scale.high || high <= scale.low) continue;
    const [left, right] = [xOf(from, box, view), xOf(to, box, view)];
    const [top, bottom] = [y(high), y(low)];
    for (const [colour, width] of [[colours.halo, 4], [colours.ink, 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = width * box.scale;
      context.strokeRect(left, top, Math.max(2 * box.scale, right - left), Math.max(2 * box.scale, bottom - top));
    }
    writeLabel(place, left, top);
  }
}

function isSeen({ at_frame: from, end_frame: to = from }, view) { return to >= view.from && from <= view.to; }

/** A function that writes the label of a place, unless that of an earlier one is there. */
function labels(context, box, colours, indent) {
  let free = -Infinity;
  return ({ note, label }, x, y) => {
    const text = note || label;
    const left = Math.max(box.x, x) + indent;
    if (!text || left < free) return;
    context.font = `600 ${box.text}px ${colours.font}`;
    context.textBaseline = 'top';
    context.lineJoin = 'round';
    context.lineWidth = 3 * box.scale;
    context.strokeStyle = colours.halo;
    context.fillStyle = colours.ink;
    context.strokeText(text, left, y + 2 * box.scale);
    context.fillText(text, left, y + 2 * box.scale);
    free = left + context.measureText(text).width + indent;
  };
}

function drawFilter(context, box, view, frame, colours) {
  if (frame < view.from || frame > view.to) return;
  const x = Math.round(xOf(frame, box, view));
  context.fillStyle = colours.filter;
  for (let y = box.y; y < box.y + box.height; y += 8 * box.scale) context.fillRect(x, y, 1.5 * box.scale, 4 * box.scale);
  context.font = `${box.text}px ${colours.font}`;
  context.textBaseline = 'bottom';
  context.fillText('ƒ', x + 3 * box.scale, box.y + box.height);
}

/** A box of the whole height. */
function drawSpan(context, box, view, from, to, colour) {
  if (to < view.from || from > view.to) return;
  const x = xOf(Math.max(from, view.from), box, view);
  const width = Math.max(2 * box.scale, xOf(Math.min(to, view.to), box, view) - x);
  context.fillStyle = colour;
  context.fillRect(x, box.y, width, 3 * box.scale);
  context.fillRect(x, box.y, 1.5 * box.scale, box.height);
  context.fillRect(x + width - 1.5 * box.scale, box.y, 1.5 * box.scale, box.height);
  context.globalAlpha = 0.12;
  context.fillRect(x, box.y, width, box.height);
  context.globalAlpha = 1;
}

function drawMarker(context, box, view, frame, colour) {
  if (frame < view.from || frame > view.to) return;
  const x = Math.round(xOf(frame, box, view));
  const size = 9 * box.scale;
  context.fillStyle = colour;
  context.fillRect(x, box.y, 1.5 * box.scale, box.height);
  context.beginPath();
  context.moveTo(x, box.y);
  context.lineTo(x + size, box.y + size / 2);
  context.lineTo(x, box.y + size);
  context.fill();
}

/**
 * Draws the time axis downwards from the upper edge of its box. `timeText(seconds, decimals)` is the text of a tick, and ticks are at least
 * `spacing` heights of a line apart.
 */
export function drawAxis(context, box, view, rate, colours, { timeText = lengthText, spacing = 7 } = {}) {
  const seconds = view.length / rate;
  const step = niceStep((seconds * box.text * spacing) / box.width);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  context.fillStyle = colours.text;
  context.font = `${box.text}px ${colours.font}`;
  context.textBaseline = 'top';
  for (let index = Math.ceil(view.from / rate / step); index * step * rate <= view.to; index++) {
    const x = Math.round(xOf(index * step * rate, box, view));
    context.fillRect(x, box.y, box.scale, 5 * box.scale);
    context.fillText(timeText(index * step, decimals), x + 3 * box.scale, box.y + 3 * box.scale);
  }
}

function niceStep(least) {
  if (least > 0.5) return steps.find((step) => step >= least) ?? Math.ceil(least / 86400) * 86400;
  const decade = 10 ** Math.floor(Math.log10(least));
  return decade * [1, 2, 5, 10].find((step) => step * decade >= least);
}

/** The horizontal position of a frame in the picture. */
export function xOf(frame, box, view) {
  return box.x + ((frame - view.from) / view.length) * box.width;
}
