// The controls of a take's page: playback, zoom, and the selection with its clip.
import { download, button, choices, field, h } from './dom.js';
import { lengthText, numberText, readLength } from './takes-format.js';
import { takePath } from './take-actions.js';

/** The step of the arrow keys and the step buttons, in seconds. */
export const stepSeconds = 5;

const speeds = [0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
const pitches = [-1200, 0, 1200];
const gains = [1, 4, 16, 64];

/** Buttons and settings of the player: `element` and `settings`. */
export class PlayControls {
  /** @param {object} options `t`, `player`, `rate`, `length` in seconds, `mayPlayThere`, `onToggle()`, `onStep(seconds)`. */
  constructor(options) {
    Object.assign(this, options);
    const { t, onToggle, onStep } = this;
    this.toggle = button('', onToggle, { class: 'play-toggle' });
    this.time = h('span', { class: 'play-time' });
    this.element = h('div', { class: 'play-main', role: 'group', 'aria-label': t('play.title') }, this.toggle,
      button(t('play.back', { n: stepSeconds }), () => onStep(-stepSeconds)),
      button(t('play.forward', { n: stepSeconds }), () => onStep(stepSeconds)), this.time);
    this.settings = this.#settings();
    this.show();
  }

  /** Shows whether it plays, and where. */
  show() {
    const { player, t, rate } = this;
    const isPlaying = String(player.isPlaying);
    if (this.toggle.dataset.playing !== isPlaying) {
      this.toggle.dataset.playing = isPlaying;
      this.toggle.replaceChildren(h('span', { 'aria-hidden': 'true' }, player.isPlaying ? '❚❚ ' : '▶ '), t(player.isPlaying ? 'play.pause' : 'play.play'));
    }
    this.time.textContent = `${lengthText(player.frame / rate, 1)} / ${lengthText(this.length, 1)}`;
  }

  #settings() {
    const { t, player } = this;
    const where = choices([['browser', t('play.browser')], ['kit', t('play.kit')]], player.where, (value) => player.move(value),
      { disabled: !this.mayPlayThere });
    const speed = choices(speeds.map((value) => [String(value), `${numberText(value, 2)} ×`]), '1', (value) => player.set({ speed: Number(value) }));
    const expand = h('input', { type: 'checkbox', onchange: () => player.set({ expand: expand.checked }) });
    const volume = h('input', {
      type: 'range', min: 0, max: 1, step: 0.01, value: player.settings.volume,
      oninput: () => player.set({ volume: Number(volume.value) }),
    });
    return h('div', { class: 'play-settings' },
      field(t('play.where'), where), field(t('play.speed'), speed),
      h('label', { class: 'check' }, expand, h('span', {}, t('play.expand'))),
      this.#pitch(), field(t('play.volume'), volume));
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

/** Zoom, and the selected range. */
export class RangeControls {
  /** @param {object} options `t`, `take`, `view` (a `TakeView`), `player`, `fail(error)`. */
  constructor(options) {
    Object.assign(this, options);
    const { t, view } = this;
    this.mode = button(t('range.drag'), () => this.#switchMode(), { 'aria-pressed': 'false' });
    this.from = this.#timeInput('from', 'range.from');
    this.to = this.#timeInput('to', 'range.to');
    this.format = choices([['wav', 'WAV'], ['flac', 'FLAC']], 'wav', () => {}, { 'aria-label': t('range.format') });
    this.clip = h('div', { class: 'range-clip', role: 'group', 'aria-label': t('range.selected') },
      button(t('range.zoom'), () => this.zoomToSelection()), button(t('range.play'), () => this.playSelection()),
      button(t('range.clear'), () => view.select(null)), this.format,
      button(t('range.download'), () => download(this.#clipURL, this.#clipName)), ...this.#share());
    this.element = h('section', { class: 'range', 'aria-label': t('range.title') },
      h('div', { class: 'range-zoom', role: 'group', 'aria-label': t('zoom.title') },
        button('+', () => view.zoom(0.5), { 'aria-label': t('zoom.in') }),
        button('−', () => view.zoom(2), { 'aria-label': t('zoom.out') }),
        button(t('zoom.whole'), () => view.show()),
        choices(gains.map((gain) => [String(gain), t('zoom.height', { n: gain })]), '1', (value) => view.setGain(Number(value)),
          { 'aria-label': t('zoom.heights') }), this.mode),
      h('div', { class: 'range-bounds' }, field(t('range.from'), this.from), button(t('range.start'), () => this.bound('from')),
        field(t('range.to'), this.to), button(t('range.end'), () => this.bound('to'))),
      this.clip);
    this.show();
  }

  show() {
    const { selection } = this.view;
    const { rate_hz: rate } = this.take;
    this.from.value = selection ? lengthText(selection.from / rate, 3) : '';
    this.to.value = selection ? lengthText(selection.to / rate, 3) : '';
    this.clip.hidden = !selection;
  }

  /** Moves the start or the end of the selection to the playhead. */
  bound(side, frame = this.player.frame) {
    const { selection } = this.view;
    const range = { from: 0, to: this.take.frames, ...selection, [side]: frame };
    if (range.from < range.to) this.view.select(range);
    // The other end is on the wrong side, so the range extends to the end or beginning of the take.
    else this.view.select(side === 'from' ? { from: frame, to: this.take.frames } : { from: 0, to: frame });
  }

  zoomToSelection() { if (this.view.selection) this.view.show(this.view.selection.from, this.view.selection.to); }

  playSelection() {
    if (!this.view.selection) return;
    this.player.pause();
    this.player.seek(this.view.selection.from);
    this.player.play(this.view.selection.to);
  }

  #switchMode() {
    this.view.isSelecting = !this.view.isSelecting;
    this.mode.setAttribute('aria-pressed', String(this.view.isSelecting));
  }

  #timeInput(side) {
    return h('input', { type: 'text', inputmode: 'decimal', placeholder: '0:00.000', onchange: (event) => {
      const seconds = readLength(event.target.value.trim());
      if (seconds === null) this.show();
      else this.bound(side, Math.min(this.take.frames, Math.round(seconds * this.take.rate_hz)));
    } });
  }

  get #clipURL() {
    const { from, to } = this.view.selection;
    return `${takePath(this.take.take)}/clip?from=${from}&to=${to}&format=${this.format.value}`;
  }

  get #clipName() {
    const { from, to } = this.view.selection;
    return `${this.take.take}-${from}-${to}.${this.format.value}`;
  }

  /** The share button, if the browser can share files. */
  #share() {
    const probe = new File([], 'clip.wav', { type: 'audio/wav' });
    if (!navigator.canShare?.({ files: [probe] })) return [];
    return [button(this.t('range.share'), () => this.#shareClip())];
  }

  async #shareClip() {
    try {
      const response = await fetch(this.#clipURL);
      if (!response.ok) throw new Error((await response.json()).detail);
      const file = new File([await response.blob()], this.#clipName, { type: `audio/${this.format.value}` });
      await navigator.share({ files: [file] });
    } catch (error) {
      // A person who closes the share dialog has not caused a failure.
      if (error.name !== 'AbortError') this.fail(error);
    }
  }
}
