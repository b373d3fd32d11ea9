// What a person does with takes: actions with their questions, downloads, and the controls of a take's page.
import { refusalOf } from './api.js';
import { button, choices, download, field, h, icon, openSheet } from './dom.js';
import { lengthText, numberText, readLength, sizeText } from './format.js';
import { bandText, clipOf, readKilohertz } from './marks.js';
import { counted } from './texts.js';

// Actions on takes: deleting, sending again, downloading; and their confirmation questions.

/** The most takes of one archive, because their names are in its address. */
export const mostInArchive = 200;

export const takePath = (stem) => `/api/takes/${encodeURIComponent(stem)}`;

/**
 * The question before takes are deleted: which copies will remain.
 * @param {object[]} takes
 * @param {'here'|'there'|'both'} where
 */
export function deleteQuestion(takes, where, t) {
  const safe = takes.filter((take) => take.upload === 'done').length;
  const lost = takes.length - safe;
  const sentences = [counted(t, `takes.delete.${where}`, takes.length)];
  if (where === 'here' && takes.length === 1) sentences.push(t(safe ? 'takes.delete.safe.it' : 'takes.delete.lost.it'));
  if (where === 'here' && takes.length > 1) {
    if (safe) sentences.push(counted(t, 'takes.delete.safe', safe));
    if (lost) sentences.push(counted(t, 'takes.delete.lost', lost));
  }
  if (where === 'here') sentences.push(t('takes.delete.bin'));
  if (where === 'there') sentences.push(t('takes.delete.kept'));
  if (where === 'both') sentences.push(t('takes.delete.nothing'));
  if (where !== 'here') sentences.push(t('takes.delete.final'));
  return sentences.join(' ');
}

/**
 * The path of the request that deletes copies of a take. The request fails if the safety stated in the question no longer holds.
 * @param {object} take its state when the question was asked
 * @param {'here'|'there'|'both'} where
 */
export function deletePath(take, where) {
  const condition = where === 'here' && take.upload === 'done' ? '&left=home' : '';
  return `${takePath(take.take)}?where=${where}${condition}`;
}

/** The address of several takes as one file. */
export function archiveURL(stems) {
  return `/api/archive?${stems.map((stem) => `take=${encodeURIComponent(stem)}`).join('&')}`;
}

/**
 * Runs an action for each take, one after the other, and continues after a failure.
 * @returns {Promise<{done: object[], errors: Error[]}>}
 */
export async function each(takes, body) {
  const done = [];
  const errors = [];
  for (const take of takes) {
    try {
      await body(take);
      done.push(take);
    } catch (error) {
      errors.push(error);
    }
  }
  return { done, errors };
}

/** Whether deleted takes can be restored. A recorder of an older version has no bin. */
export const hasBin = (context) => Number.isInteger(context.status()?.bin_bytes);

/**
 * Reports that takes were deleted from the kit, with a button that restores them from the bin.
 * @param {string[]} stems
 * @param {() => void} restored called after the attempt
 */
export function offerUndo(context, stems, restored) {
  const { t } = context;
  const undo = async () => {
    const { done, errors } = await each(stems, (stem) => context.api.post(`${takePath(stem)}/restore`));
    if (errors.length) context.fail(errors[0]);
    else context.say(counted(t, 'takes.restored', done.length));
    restored();
  };
  context.say(counted(t, 'takes.deleted', stems.length), hasBin(context) && stems.length ? { text: t('takes.undo'), run: undo } : null);
}

// The sheet that downloads or shares a take, or a selection of it.

/** The rates that MP3 has, in hertz. */
const rates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const bytesOfMP3 = 16_000;
/** Larger files are downloaded, and not shared: a phone has to keep what is shared in memory. */
const mostShared = 100e6;
const types = { mp3: 'audio/mpeg', wav: 'audio/wav', flac: 'audio/flac' };

/**
 * The sound of a take, or of a selection, as files.
 * @param {object} take An entry of `/api/takes`.
 * @param {import('./marks.js').Selection | null} selection
 * @returns {{format: string, url: string, name: string, bytes: number | null, isStored: boolean}[]} The smallest one first. `bytes` is about
 * the size, or null if it is unknown. A stored file exists on the kit; the others are made for the request.
 */
export function downloadsOf(take, selection = null) {
  const { take: stem, rate_hz: rate, frames, channels, files } = take;
  const range = selection ?? { from: 0, to: frames };
  const stored = !selection && files.length === 1 ? files[0] : null;
  const ofFormat = (format) => {
    const { url, name } = clipOf(range, stem, format);
    if (stored?.endsWith(`.${format}`)) {
      return { format, url: `${takePath(stem)}/files/${encodeURIComponent(stored)}`, name: stored, bytes: take.bytes, isStored: true };
    }
    const bytes = format === 'wav' ? (range.to - range.from) * channels * bytesOfSample(take.format) : null;
    return { format, url, name: selection ? name : `${stem}.${format}`, bytes, isStored: false };
  };
  const mp3 = {
    format: 'mp3', url: `${takePath(stem)}/sound.mp3${selection ? `?from=${range.from}&to=${range.to}` : ''}`,
    name: selection ? `${stem}-${range.from}-${range.to}.mp3` : `${stem}.mp3`, bytes: bytesOfMP3 * (range.to - range.from) / rate, isStored: false,
  };
  return [...(rates.includes(rate) ? [mp3] : []), ofFormat('flac'), ofFormat('wav')];
}

/** The bytes of a sample of ALSA's formats in a file. */
function bytesOfSample(format) {
  if (format.startsWith('S24')) return 3;
  return Number(/\d+/.exec(format)?.[0] ?? 16) / 8;
}

/** Whether the browser can share a file, which it can on secure pages alone. */
function canShare(format) {
  return navigator.canShare?.({ files: [new File([], `a.${format}`, { type: types[format] })] }) ?? false;
}

/**
 * Opens the sheet.
 * @param {object} take
 * @param {object} options `t`, `context`, and `selection` (null for none).
 */
export function openDownloads(take, { t, context, selection }) {
  const fail = (error) => {
    // A person who closes the share dialog has not caused a failure.
    if (error.name === 'AbortError') return;
    close();
    context.fail(error);
  };
  const row = (file) => {
    const element = h('li', {}, h('button', { type: 'button', class: 'download-format', onclick: () => save(file, t).then(close, fail) },
      icon('download'), h('strong', {}, file.format.toUpperCase()), h('span', { class: 'dim' }, aboutText(file, t))));
    if (!canShare(file.format) || file.bytes > mostShared) return element;
    const pressed = button(t('download.share'), async () => {
      pressed.disabled = true;
      pressed.textContent = t('download.preparing');
      try {
        const files = await fetched(file, t);
        await navigator.share({ files }).catch((error) => {
          if (error.name !== 'NotAllowedError') throw error;
          // The file took so long that the browser wants another tap.
          pressed.replaceWith(button(t('download.ready'), () => navigator.share({ files }).then(close, fail)));
        });
        if (pressed.isConnected) close();
      } catch (error) {
        fail(error);
        pressed.disabled = false;
        pressed.textContent = t('download.share');
      }
    });
    element.append(pressed);
    return element;
  };
  const list = (text, files) => [h('h3', {}, text), h('ul', { class: 'plain downloads', role: 'list' }, ...files.map(row))];
  const at = (frame) => lengthText(frame / take.rate_hz, 1);
  const close = openSheet(t('takes.download'), { t }, h('div', { class: 'sheet-body' },
    ...(selection ? list(t('download.selection', { from: at(selection.from), to: at(selection.to) }), downloadsOf(take, selection)) : []),
    ...list(t('download.whole', { length: lengthText(take.duration_seconds) }), downloadsOf(take)),
    rates.includes(take.rate_hz) ? null : h('p', { class: 'dim' }, t('download.rate')),
    button(t('download.files'), () => {
      download(archiveURL([take.take]));
      close();
    })));
}

function aboutText({ format, bytes }, t) {
  return [t(`download.${format}`), bytes === null ? '' : sizeText(bytes)].filter(Boolean).join(', ');
}

/** Downloads a file. Whether the kit can make it is asked first, because a failed download says no reason. */
async function save({ url, name, isStored }, t) {
  if (!isStored) {
    const ended = new AbortController();
    await answerOf(url, t, { signal: ended.signal });
    ended.abort();
  }
  download(url, name);
}

async function fetched({ url, name, format }, t) {
  const response = await answerOf(url, t);
  return [new File([await response.blob()], name, { type: types[format] })];
}

async function answerOf(url, t, options = {}) {
  const response = await fetch(url, options).catch(() => { throw new Error(t('connection.unread')); });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

// The controls of a take's page: playback, zoom, and the selection with its clip.

/** The step of the arrow keys and the step buttons, in seconds. */
export const stepSeconds = 5;

const speeds = [0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
const pitches = [-1200, 0, 1200];
/** Sound with only higher frequencies than this, in hertz, is not heard. */
const audibleHertz = 16_000;

/** Buttons and settings of the player: `element` and `settings`. */
export class PlayControls {
  /** @param {object} options `t`, `player`, `rate`, `length` in seconds, `mayPlayThere`, `onToggle()`, `onStep(seconds)`. */
  constructor(options) {
    Object.assign(this, options);
    const { t, onToggle, onStep } = this;
    this.word = h('span', {});
    // The time is not part of the button's name; the slider in the picture has it.
    this.time = h('span', { class: 'play-time', 'aria-hidden': 'true' });
    this.toggle = button('', onToggle, { class: 'play-toggle' });
    this.toggle.append(this.word, this.time);
    this.element = h('div', { class: 'play-main', role: 'group', 'aria-label': t('play.title') },
      button(t('play.back', { n: stepSeconds }), () => onStep(-stepSeconds)), this.toggle,
      button(t('play.forward', { n: stepSeconds }), () => onStep(stepSeconds)));
    this.settings = this.#settings();
    this.show();
  }

  /** Shows whether it plays, and where. */
  show() {
    const { player, t, rate } = this;
    const isPlaying = String(player.isPlaying);
    if (this.toggle.dataset.playing !== isPlaying) {
      this.toggle.dataset.playing = isPlaying;
      this.word.replaceChildren(h('span', { 'aria-hidden': 'true' }, player.isPlaying ? '❚❚ ' : '▶\uFE0E '), t(player.isPlaying ? 'play.pause' : 'deck.play'));
    }
    this.time.textContent = `${lengthText(player.frame / rate, 1)} / ${lengthText(this.length, 1)}`;
  }

  #settings() {
    const { t, player } = this;
    const where = choices([['browser', t('play.browser')], ['kit', t('play.kit')]], player.where, (value) => player.move(value),
      { disabled: !this.mayPlayThere });
    const speed = choices(speeds.map((value) => [String(value), `${numberText(value, 2)} ×`]), String(player.settings.speed), (value) => player.set({ speed: Number(value) }));
    const expand = h('input', { type: 'checkbox', onchange: () => player.set({ expand: expand.checked }) });
    expand.checked = player.settings.expand;
    const volume = h('input', {
      type: 'range', min: 0, max: 1, step: 0.01, value: player.settings.volume,
      oninput: () => player.set({ volume: Number(volume.value) }),
    });
    return h('details', { class: 'play-more' }, h('summary', {}, h('h2', {}, t('play.title'))), h('div', { class: 'play-settings' },
      field(t('play.where'), where), field(t('play.speed'), speed),
      h('label', { class: 'check' }, expand, h('span', {}, t('play.expand'))),
      this.#pitch(), field(t('play.volume'), volume)));
  }

  #pitch() {
    const { t, player } = this;
    return h('fieldset', { class: 'play-pitch' }, h('legend', {}, t('play.pitch')), ...pitches.map((cents) => {
      const input = h('input', { type: 'radio', name: 'pitch', onchange: () => player.set({ cents }) });
      input.checked = cents === player.settings.cents;
      return h('label', { class: 'check' }, input, h('span', {}, t(`play.pitch.${cents}`)));
    }));
  }
}

/** The buttons that zoom a timeline. `whole` is the name of the one that shows all of it. */
export function zoomButtons(timeline, t, whole) {
  return h('div', { class: 'range-zoom', role: 'group', 'aria-label': t('zoom.title') },
    button('−', () => timeline.zoom(2), { 'aria-label': t('zoom.out') }),
    button('+', () => timeline.zoom(0.5), { 'aria-label': t('zoom.in') }),
    button(whole, () => timeline.show()));
}

/** The zoom, and the selection: `zoom`, `actions` (the buttons below the picture) and `element` (its values). */
export class RangeControls {
  /** @param {object} options `t`, `take`, `timeline`, `player`, `label(selection)` (null for a phone that may only look), `say(message)`, `fail(error)`. */
  constructor(options) {
    Object.assign(this, options);
    const { t, timeline, label } = this;
    this.mode = action('▢', t('range.box'), () => timeline.setBoxing(!timeline.isBoxing), { title: t('range.drag'), 'aria-pressed': 'false' });
    this.play = action('▶', t('range.play'), () => this.playSelection());
    this.clip = action('✂', t('range.clip'), () => this.#downloadClip(), { 'aria-label': t('range.download') });
    this.actions = h('div', { class: 'range-actions', role: 'group', 'aria-label': t('range.selected') }, this.mode, this.play, this.clip,
      label && action('⚑', t('range.label'), () => label(timeline.selection)));
    this.zoom = zoomButtons(timeline, t, t('zoom.whole'));
    this.element = this.#fields();
    this.show();
  }

  #fields() {
    const { t, timeline } = this;
    this.from = this.#timeInput('from');
    this.to = this.#timeInput('to');
    this.low = this.#bandInput('low');
    this.high = this.#bandInput('high');
    this.text = h('span', { class: 'range-text' });
    this.more = h('div', { class: 'row' }, button(t('range.zoom'), () => this.zoomToSelection()), button(t('range.clear'), () => timeline.select(null)));
    return h('details', { class: 'range' }, h('summary', {}, h('h2', {}, t('range.title')), ' ', this.text),
      h('div', { class: 'range-bounds' },
        field(t('range.from'), this.from), field(t('range.to'), this.to), field(t('range.low'), this.low), field(t('range.high'), this.high)),
      h('div', { class: 'row' }, button(t('range.start'), () => this.bound('from')), button(t('range.end'), () => this.bound('to'))),
      this.more);
  }

  /** Shows the selection, and whether a drag draws one. */
  show() {
    const { timeline: { selection, isBoxing }, take: { rate_hz: rate } } = this;
    this.mode.setAttribute('aria-pressed', String(isBoxing));
    const { from, to, band } = selection ?? {};
    this.from.value = selection ? lengthText(from / rate, 3) : '';
    this.to.value = selection ? lengthText(to / rate, 3) : '';
    this.low.value = band ? kilohertzText(band.low) : '';
    this.high.value = band ? kilohertzText(band.high) : '';
    this.text.textContent = [
      selection && `${lengthText(from / rate, 1)} – ${lengthText(to / rate, 1)}`, band && bandText(band.low, band.high),
    ].filter(Boolean).join(', ');
    for (const one of [this.play, this.clip]) one.disabled = !selection;
    this.more.hidden = !selection;
  }

  /** Moves the start or the end of the selection to the playhead. */
  bound(side, frame = this.player.frame) {
    const { timeline, take } = this;
    const range = { from: 0, to: take.frames, ...timeline.selection, [side]: frame };
    if (range.from < range.to) timeline.select(range);
    // The other end is on the wrong side, so the range extends to the end or beginning of the take.
    else timeline.select({ ...range, from: 0, to: take.frames, [side]: frame });
  }

  zoomToSelection() {
    const { timeline } = this;
    if (timeline.selection) timeline.show(timeline.selection.from, timeline.selection.to);
  }

  /** Plays the time and the band of the selection. */
  playSelection() {
    const { player, timeline: { selection } } = this;
    if (!selection) return;
    player.pause();
    player.seek(selection.from);
    if (selection.band && selection.band.low * player.pitch > audibleHertz) this.say(this.t('range.inaudible'));
    player.play(selection.to, selection.band);
  }

  /** Downloads the selection as WAV. The take's sheet has more formats. */
  #downloadClip() { save(clipOf(this.timeline.selection, this.take.take, 'wav'), this.t).catch(this.fail); }

  #timeInput(side) {
    return h('input', { type: 'text', inputmode: 'decimal', placeholder: '0:00.000', onchange: (event) => {
      const seconds = readLength(event.target.value.trim());
      if (seconds === null) this.show();
      else this.bound(side, Math.min(this.take.frames, Math.round(seconds * this.take.rate_hz)));
    } });
  }

  /** An edge of the band. Without a text in either field, the selection has all frequencies. */
  #bandInput(side) {
    const nyquist = this.take.rate_hz / 2;
    return h('input', { type: 'text', inputmode: 'decimal', placeholder: kilohertzText(side === 'low' ? 0 : nyquist), onchange: (event) => {
      const { timeline, take } = this;
      const text = event.target.value.trim();
      const hertz = text ? readKilohertz(text) : { low: 0, high: nyquist }[side];
      const { band, ...range } = { from: 0, to: take.frames, band: null, ...timeline.selection };
      const changed = { low: 0, high: nyquist, ...band, [side]: hertz };
      const isAll = changed.low === 0 && changed.high >= nyquist;
      if (hertz === null) this.show();
      else timeline.select({ ...range, band: isAll ? null : changed });
    } });
  }
}

/** A button with a sign above its text. The variation selector keeps browsers from showing the sign as a coloured picture. */
function action(sign, text, onclick, properties = {}) {
  const element = button('', onclick, properties);
  element.append(h('span', { class: 'action-sign', 'aria-hidden': 'true' }, `${sign}\uFE0E`), h('span', {}, text));
  return element;
}

function kilohertzText(hertz) { return numberText(hertz / 1000, 3); }

// The settings of a take's picture: frequencies, contrast, channel, windows, and the height of the waveform.

/** The last choice applies to the next take too. */
const chosen = { isOpen: false, band: 'all', axis: 'linear', contrast: 0, size: '' };
const sizes = [256, 512, 1024, 2048, 4096, 8192];
const mostContrast = 10;
const gains = [1, 4, 16, 64];
const audible = { low: 0, high: 12_000 };
const ultrasound = { low: 15_000, high: 120_000 };

/** The bands that can be shown at a rate, `[name, { low, high }]`. */
export function bandsOf(rate) {
  const nyquist = rate / 2;
  return [
    ['all', { low: 0, high: nyquist }],
    ...(nyquist > 1.2 * audible.high ? [['audible', audible]] : []),
    ...(nyquist > 2 * ultrasound.low ? [['ultrasound', { low: ultrasound.low, high: Math.min(ultrasound.high, nyquist) }]] : []),
  ];
}

/** The choice of a band by its name, without a text for the control. */
export function bandChoice(rate, value, choose, t) {
  const options = bandsOf(rate).map(([name, { low, high }]) => [name, name === 'all' ? t('spectrum.band.all') : bandText(low, high)]);
  return choices(options, options.some(([name]) => name === value) ? value : 'all', choose);
}

/** The settings of a spectrogram and of the waveform above it. */
export class PictureSettings {
  /**
   * @param {object} take
   * @param {object} options `t`, `spectrum` (a `SpectrumLane`), `onGain(gain)`.
   */
  constructor(take, { t, spectrum, onGain }) {
    Object.assign(this, { take, t, spectrum });
    this.element = h('details', { class: 'spectrum', ontoggle: () => { chosen.isOpen = this.element.open; } },
      h('summary', {}, h('h2', {}, t('spectrum.title'))), this.#choices(onGain));
    this.element.open = chosen.isOpen;
    this.#apply({ size: chosen.size });
  }

  #apply(changes) {
    Object.assign(chosen, changes);
    const bands = new Map(bandsOf(this.take.rate_hz));
    this.spectrum.set({ ...bands.get(chosen.band) ?? bands.get('all'), isLogarithmic: chosen.axis === 'log', contrast: chosen.contrast });
    if ('size' in changes) this.spectrum.set({ size: Number(chosen.size) || null });
  }

  #choices(onGain) {
    const { t, take, spectrum } = this;
    const channels = Array.from({ length: take.channels }, (_, index) => [String(index), t('deck.channel', { n: index + 1 })]);
    const contrast = h('input', {
      type: 'range', min: -mostContrast, max: mostContrast, step: 1, value: chosen.contrast, oninput: () => this.#apply({ contrast: Number(contrast.value) }),
    });
    const adapt = button(t('spectrum.adapt'), () => {
      contrast.value = 0;
      this.#apply({ contrast: 0 });
      spectrum.adapt();
    });
    return h('div', { class: 'spectrum-choices' },
      h('div', { class: 'spectrum-contrast' }, field(t('spectrum.contrast'), contrast), adapt),
      field(t('spectrum.band'), bandChoice(take.rate_hz, chosen.band, (value) => this.#apply({ band: value }), t)),
      field(t('spectrum.axis'), choices([['linear', t('spectrum.linear')], ['log', t('spectrum.log')]], chosen.axis,
        (value) => this.#apply({ axis: value }))),
      take.channels > 1 ? field(t('spectrum.channels'), choices([['', t('spectrum.all')], ...channels], '',
        (value) => spectrum.set({ channel: value === '' ? null : Number(value) }))) : null,
      field(t('spectrum.size'), choices([['', t('spectrum.automatic')], ...sizes.map((size) => [String(size), numberText(size)])], chosen.size,
        (value) => this.#apply({ size: value }), { title: t('spectrum.size.hint') })),
      field(t('zoom.heights'), choices(gains.map((gain) => [String(gain), t('zoom.height', { n: gain })]), '1', (value) => onGain(Number(value)))));
  }
}
