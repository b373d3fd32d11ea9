// The spectrogram on a take's page: its picture and its settings.
import { Spectrogram } from './spectrogram.js';
import { choices, field, h } from './dom.js';

/** The last choice applies to the next take too. */
const chosen = { isOpen: true, size: 2048, isLogarithmic: false, low: -110, high: -20 };

/** The spectrogram of the visible range. */
export class SpectrumPanel {
  #spectrogram = null;

  /**
   * @param {object} take
   * @param {import('./waveform.js').View} view
   */
  constructor(take, view, t) {
    Object.assign(this, { take, view, t });
    this.canvas = h('canvas', { class: 'spectrum-canvas', role: 'img', 'aria-label': t('spectrum.picture') });
    this.state = h('p', { class: 'spectrum-state', role: 'status' });
    this.element = h('details', { class: 'spectrum' }, h('summary', {}, h('h2', {}, t('spectrum.title'))),
      this.canvas, this.state, this.#choices());
    this.element.open = chosen.isOpen;
    this.element.addEventListener('toggle', () => this.#toggle());
    this.resized = new ResizeObserver(() => this.show());
  }

  /** Begins, once the element is in the page. */
  start() {
    this.#toggle();
    this.resized.observe(this.canvas);
  }

  close() {
    this.resized.disconnect();
    this.#spectrogram?.close();
  }

  /** Redraws after a change of the view. */
  show() { if (chosen.isOpen) this.#spectrogram?.show(this.view); }

  #toggle() {
    chosen.isOpen = this.element.open;
    if (!chosen.isOpen) return;
    if (!this.#spectrogram) {
      this.#spectrogram = new Spectrogram(this.canvas, this.take, (state) => this.#tell(state));
      this.#set({});
    }
    this.show();
  }

  #set(changes) {
    Object.assign(chosen, changes);
    const { size, isLogarithmic, low, high } = chosen;
    this.#spectrogram?.set({ size, isLogarithmic, low, high, ...('channel' in changes ? changes : {}) }, this.view);
  }

  #tell(state) {
    this.canvas.setAttribute('aria-busy', String(state === 'busy'));
    this.state.textContent = this.t(`spectrum.${state}`);
  }

  #choices() {
    const { t, take } = this;
    const decibels = (least, greatest) => Array.from({ length: (greatest - least) / 10 + 1 },
      (_, index) => [String(greatest - 10 * index), `${greatest - 10 * index} dB`]);
    const channels = Array.from({ length: take.channels }, (_, index) => [String(index), t('spectrum.channel', { n: index + 1 })]);
    const number = (name) => (value) => this.#set({ [name]: Number(value) });
    return h('div', { class: 'spectrum-choices' },
      field(t('spectrum.axis'), choices([['linear', t('spectrum.linear')], ['log', t('spectrum.log')]],
        chosen.isLogarithmic ? 'log' : 'linear', (value) => this.#set({ isLogarithmic: value === 'log' }))),
      field(t('spectrum.size'), choices([1024, 2048, 4096].map((size) => [String(size), String(size)]), String(chosen.size), number('size'))),
      field(t('spectrum.low'), choices(decibels(-150, -60), String(chosen.low), number('low'))),
      field(t('spectrum.high'), choices(decibels(-50, 0), String(chosen.high), number('high'))),
      take.channels > 1 ? field(t('spectrum.channels'), choices([['', t('spectrum.all')], ...channels], '',
        (value) => this.#set({ channel: value === '' ? null : Number(value) }))) : null);
  }
}
