// The live waveform, scrolling from right to left.
import { h } from './dom.js';

const shownSeconds = 20;

/** A canvas for `peaks` events. */
export class LiveWave {
  #pixels = [];
  #channels = 1;
  #next = 0;
  #isDue = false;
  #isStill = matchMedia('(prefers-reduced-motion: reduce)');
  #drawn = 0;

  constructor(label) {
    this.canvas = h('canvas', { class: 'live', role: 'img', 'aria-label': label });
    this.element = this.canvas;
  }

  add({ channels, rate_hz: rate, frames_per_pixel: framesPerPixel, first_pixel: first, data }) {
    // A reopened card starts at 0. Missing columns appear as a gap.
    if (first < this.#next || channels !== this.#channels) this.#pixels = [];
    for (let missing = this.#pixels.length ? first - this.#next : 0; missing > 0 && missing < 10_000; missing -= 1) this.#pixels.push(null);
    this.#channels = channels;
    for (let index = 0; index + 2 * channels <= data.length; index += 2 * channels) {
      let least = 0;
      let most = 0;
      for (let channel = 0; channel < channels; channel += 1) {
        least = Math.min(least, data[index + 2 * channel]);
        most = Math.max(most, data[index + 2 * channel + 1]);
      }
      this.#pixels.push([least, most]);
    }
    this.#next = first + data.length / (2 * channels);
    this.#count = Math.ceil(shownSeconds * rate / framesPerPixel);
    if (this.#pixels.length > 2 * this.#count) this.#pixels = this.#pixels.slice(-this.#count);
    this.#draw();
  }

  close() { this.#pixels = []; }

  #count = 1;

  #draw() {
    const now = performance.now();
    if (this.#isDue || document.hidden || (this.#isStill.matches && now - this.#drawn < 1000)) return;
    this.#isDue = true;
    this.#drawn = now;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#paint();
    });
  }

  #paint() {
    const { canvas } = this;
    const scale = devicePixelRatio;
    const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
    if (!width) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext('2d');
    context.clearRect(0, 0, width, height);
    context.fillStyle = getComputedStyle(canvas).getPropertyValue('--accent');
    const each = this.#count / width;
    const end = this.#pixels.length;
    for (let column = 0; column < width; column += 1) {
      const last = end - (width - 1 - column) * each;
      let least = 0;
      let most = 0;
      for (let index = Math.max(0, Math.floor(last - each)); index < last; index += 1) {
        const pixel = this.#pixels[index];
        if (!pixel) continue;
        least = Math.min(least, pixel[0]);
        most = Math.max(most, pixel[1]);
      }
      if (last > 0) context.fillRect(column, height / 2 * (1 - most / 128), 1, Math.max(1, (most - least) / 256 * height));
    }
  }
}
