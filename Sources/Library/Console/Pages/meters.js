// Level meters: one bar for each channel with RMS and peak, the held peak, and a clip indicator that stays until it is tapped.
import { button, h } from './dom.js';

const floor = -60;
const holdMilliseconds = 1500;
const clipped = -0.05;

const share = (decibels) => Math.min(1, Math.max(0, 1 - (decibels ?? floor) / floor));

/** The meters of all channels. `show` receives `level_dbfs` of a level event. */
export class Meters {
  #channels = [];

  constructor({ t }) {
    this.t = t;
    this.element = h('div', { class: 'meters' });
  }

  show(levels) {
    if (levels.length !== this.#channels.length) this.#build(levels.length);
    const now = performance.now();
    levels.forEach(({ peak, rms }, index) => {
      const channel = this.#channels[index];
      if (peak !== null && (peak >= channel.hold || now - channel.heldAt > holdMilliseconds)) {
        channel.hold = peak;
        channel.heldAt = now;
      }
      channel.rms.style.transform = `scaleX(${share(rms)})`;
      channel.peak.style.transform = `scaleX(${share(peak)})`;
      channel.mark.style.left = `calc(${100 * share(channel.hold)}% - 3px)`;
      channel.figure.textContent = peak === null ? this.t('deck.silence') : `${channel.hold.toFixed(1)} dB`;
      if (peak !== null && peak >= clipped && !channel.isClipped) this.#clip(channel, index, true);
    });
  }

  close() { this.#channels = []; }

  #build(count) {
    this.#channels = Array.from({ length: count }, (_, index) => {
      const channel = {
        hold: floor, heldAt: 0, isClipped: false,
        rms: h('span', { class: 'meter-rms' }), peak: h('span', { class: 'meter-peak' }), mark: h('span', { class: 'meter-hold' }),
        figure: h('span', { class: 'meter-figure' }),
      };
      channel.sign = button(this.t('deck.clip'), () => this.#clip(channel, index, false), { class: 'clip' });
      this.#clip(channel, index, false);
      return channel;
    });
    this.element.replaceChildren(...this.#channels.map((channel, index) => h('div', { class: 'meter', role: 'group', 'aria-label': this.t('deck.channel', { n: index + 1 }) },
      h('span', { 'aria-hidden': 'true' }, String(index + 1)),
      h('span', { class: 'meter-bar', 'aria-hidden': 'true' }, channel.peak, channel.rms, channel.mark), channel.figure, channel.sign)));
  }

  #clip(channel, index, isClipped) {
    channel.isClipped = isClipped;
    channel.sign.classList.toggle('is-lit', isClipped);
    channel.sign.disabled = !isClipped;
    channel.sign.setAttribute('aria-label', this.t(isClipped ? 'deck.clip.reset' : 'deck.noclip', { n: index + 1 }));
  }
}
