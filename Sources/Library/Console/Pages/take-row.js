// One take in the list, and its small waveform.
import { drawThumbnail, readPeaks } from './waveform.js';
import { begun, clockText, dateText, lengthText } from './takes-format.js';
import { h } from './dom.js';

const pixels = 300;
const mostKept = 500;
const parallelRequests = 4;
/** A row must be visible this long before its waveform is fetched. Rows that scroll past are skipped. */
const rest = 120;

/** The upload states of a take: a key of the texts and a sign. */
export const standings = {
  done: { key: 'takes.safe', sign: '✓' },
  waiting: { key: 'takes.waiting', sign: '↑' },
  held: { key: 'takes.held', sign: '‖' },
  none: { key: 'takes.notsent', sign: '–' },
};

/** The title of a take: the first line of its memo, or its number. */
export function titleOf(take, t) {
  return take.memo?.split('\n', 1)[0].trim() || t('takes.number', { number: take.number });
}

/** Fetches the small waveforms of visible rows, and keeps the latest ones. */
export class Thumbnails {
  #kept = new Map();
  #wanted = new Set();
  #running = 0;
  #timer = 0;

  constructor() {
    this.seen = new IntersectionObserver((entries) => this.#moved(entries), { rootMargin: '20% 0px' });
  }

  close() {
    clearTimeout(this.#timer);
    this.#wanted.clear();
    this.seen.disconnect();
  }

  /** Draws the waveform of a take once the canvas is visible. */
  observe(canvas, take) {
    canvas.take = take;
    // An observer reports a newly observed element again, so that a changed take is redrawn.
    this.seen.unobserve(canvas);
    this.seen.observe(canvas);
  }

  /** The canvas is removed from the page. */
  release(canvas) {
    this.#wanted.delete(canvas);
    this.seen.unobserve(canvas);
  }

  /** Draws all canvases again in other colours. */
  redraw(canvases) { for (const canvas of canvases) this.#draw(canvas); }

  #moved(entries) {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) this.#wanted.delete(target);
      else if (!this.#draw(target)) this.#wanted.add(target);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#pump(), rest);
  }

  #pump() {
    for (const canvas of this.#wanted) {
      if (this.#running >= parallelRequests) return;
      this.#wanted.delete(canvas);
      this.#running += 1;
      this.#fetch(canvas).finally(() => {
        this.#running -= 1;
        this.#pump();
      });
    }
  }

  async #fetch(canvas) {
    const { take, frames, revision } = canvas.take;
    const each = Math.max(1, Math.ceil(frames / pixels));
    const response = await fetch(`/api/takes/${encodeURIComponent(take)}/waveform.dat?frames_per_pixel=${each}&from=0&to=${frames}`)
      .catch(() => null);
    if (!response?.ok) return;
    this.#kept.set(`${take}/${revision}`, readPeaks(await response.arrayBuffer()));
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value);
    this.#draw(canvas);
  }

  #draw(canvas) {
    const peaks = this.#kept.get(`${canvas.take.take}/${canvas.take.revision}`);
    if (peaks) drawThumbnail(canvas, peaks, getComputedStyle(canvas).color);
    return peaks !== undefined;
  }
}

/**
 * A row of the list.
 * @param {object} take
 * @param {object} options `t`, `thumbnails`, `href(stem)`, `isUTC()`, `isSelected(stem)`, `mayChange`, and `onSelect(take, isOn, isRange)`, `onStar(take)`, `onTime()`.
 */
export function takeRow(take, options) {
  const { t, thumbnails } = options;
  let current = take;
  let isRange = false;
  const check = h('input', {
    type: 'checkbox',
    onclick: (event) => { isRange = event.shiftKey; },
    onchange: () => options.onSelect(current, check.checked, isRange),
  });
  const canvas = h('canvas', { class: 'take-wave', width: pixels, height: 56, 'aria-hidden': 'true' });
  const title = h('span', { class: 'take-title' });
  const time = h('button', { type: 'button', class: 'take-time', title: t('takes.time.hint'), onclick: options.onTime });
  const facts = h('span', { class: 'take-facts' });
  const star = h('button', {
    type: 'button', class: 'take-star', disabled: !options.mayChange, onclick: () => options.onStar(current),
  });
  const element = h('li', { class: 'take-row' },
    h('label', { class: 'take-check' }, check),
    h('a', { class: 'take-link', href: options.href(take.take) }, canvas, title),
    h('div', { class: 'take-line' }, time, facts), star);

  const update = (changed) => {
    current = changed;
    const name = titleOf(changed, t);
    check.checked = options.isSelected(changed.take);
    check.setAttribute('aria-label', t('takes.select', { name }));
    title.textContent = name;
    time.textContent = timeText(changed, options.isUTC(), t);
    facts.replaceChildren(...factsOf(changed, t));
    star.textContent = changed.starred ? '★' : '☆';
    star.setAttribute('aria-pressed', String(changed.starred));
    star.setAttribute('aria-label', t('takes.star', { name }));
    element.classList.toggle('is-selected', check.checked);
    thumbnails.observe(canvas, changed);
  };
  update(take);
  return { element, canvas, update, refresh: () => update(current), release: () => thumbnails.release(canvas) };
}

function timeText(take, isUTC, t) {
  const text = isUTC ? dateText(begun(take), true) : clockText(begun(take), false);
  return take.clock === 'unset' && !take.started_corrected ? t('takes.unset', { time: text }) : text;
}

function factsOf(take, t) {
  const standing = standings[take.upload ?? 'none'];
  return [
    h('span', { class: 'take-length' }, lengthText(take.duration_seconds)),
    h('span', { class: `take-standing is-${take.upload ?? 'none'}` },
      h('span', { 'aria-hidden': 'true' }, `${standing.sign} `), t(standing.key)),
    take.place === 'elsewhere' ? h('span', { class: 'take-away' }, t('takes.elsewhere')) : null,
    take.damaged ? h('span', { class: 'take-damaged' }, t('takes.damaged')) : null,
    take.clipped ? h('span', { class: 'take-clipped' }, t('takes.clipped')) : null,
    ...take.tags.map((tag) => h('span', { class: 'take-tag' }, tag)),
  ].filter(Boolean);
}
