// A sidecar's places in a take, as marks in the picture; and the time axis.
import { lengthText } from './takes-format.js';

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

/** The picture's colours from the theme. */
export function coloursOf(element) {
  const style = getComputedStyle(element);
  const names = ['wave', 'line', 'gap', 'loss', 'filter', 'marker', 'selection', 'text'];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--wave-${name}`).trim()]));
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

/** Draws markers and filter changes in front of the sound. */
export function drawPlaces(context, box, view, sidecar, places, colours) {
  for (const change of sidecar.filter.slice(1)) drawFilter(context, box, view, change.at_frame, colours.filter);
  for (const { at_frame: frame, end_frame: end } of places) {
    if (end !== undefined) drawRegion(context, box, view, frame, end, colours.marker);
    drawMarker(context, box, view, frame, colours.marker);
  }
}

function drawFilter(context, box, view, frame, colour) {
  if (frame < view.from || frame > view.to) return;
  const x = Math.round(xOf(frame, box, view));
  context.fillStyle = colour;
  for (let y = box.y; y < box.y + box.height; y += 8 * box.scale) context.fillRect(x, y, 1.5 * box.scale, 4 * box.scale);
  context.font = `${box.text}px sans-serif`;
  context.textBaseline = 'bottom';
  context.fillText('ƒ', x + 3 * box.scale, box.y + box.height);
}

/** A bar along the upper edge. */
function drawRegion(context, box, view, from, to, colour) {
  if (to < view.from || from > view.to) return;
  const x = xOf(Math.max(from, view.from), box, view);
  context.fillStyle = colour;
  context.fillRect(x, box.y, xOf(Math.min(to, view.to), box, view) - x, 4 * box.scale);
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

/** Draws the time axis below the picture. */
export function drawAxis(context, box, view, rate, colours) {
  const seconds = view.length / rate;
  const step = niceStep((seconds * box.text * 7) / box.width);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  context.fillStyle = colours.text;
  context.font = `${box.text}px sans-serif`;
  context.textBaseline = 'top';
  for (let index = Math.ceil(view.from / rate / step); index * step * rate <= view.to; index++) {
    const x = Math.round(xOf(index * step * rate, box, view));
    context.fillRect(x, box.y + box.height, box.scale, 5 * box.scale);
    context.fillText(lengthText(index * step, decimals), x + 3 * box.scale, box.y + box.height + 2 * box.scale);
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
