// The spectrogram of the visible range: requests it from the worker, and draws the picture and the frequency axis.

/** The lower end of the logarithmic axis, in hertz. */
const lowestHertz = 20;
const rest = 250;

export class Spectrogram {
  #worker = new Worker('/spectrogram-worker.js', { type: 'module' });
  #id = 0;
  #timer = 0;
  #picture = null;
  #asked = '';

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{take: string, frames: number, rate_hz: number}} take
   * @param {(state: 'busy' | 'whole' | 'sampled' | 'failed') => void} onState
   */
  constructor(canvas, take, onState) {
    this.canvas = canvas;
    this.take = take;
    this.onState = onState;
    this.settings = { size: 2048, isLogarithmic: false, low: -110, high: -20, channel: null };
    this.#worker.onmessage = ({ data }) => this.#receive(data);
  }

  close() {
    clearTimeout(this.#timer);
    this.#worker.terminate();
  }

  /** Changes some settings: `size` of the transform, `isLogarithmic`, `low` and `high` in dB, `channel` or null for all. */
  set(changes, view) {
    Object.assign(this.settings, changes);
    this.#paint();
    this.show(view);
  }

  /** Draws the available part of a view now, and requests the rest once the view rests. */
  show(view) {
    this.#draw(view);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#compute(view), this.#picture ? rest : 0);
  }

  #compute(view) {
    const { from, to } = view;
    const columns = Math.max(16, Math.min(1024, Math.round(this.canvas.clientWidth)));
    const { size, channel } = this.settings;
    const asked = JSON.stringify([from, to, columns, size, channel]);
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#id += 1;
    this.onState('busy');
    const { take: stem, frames, rate_hz: rate } = this.take;
    this.#view = view;
    this.#paint();
    this.#worker.postMessage({ compute: { id: this.#id, stem, frames, rate, from, to, columns, size, channel } });
  }

  #view = null;

  #paint() {
    const { isLogarithmic, low, high } = this.settings;
    const height = Math.max(32, Math.round(this.canvas.clientHeight));
    this.#worker.postMessage({ paint: { height, low, high, lowHz: lowestHertz, isLogarithmic } });
  }

  #receive(data) {
    if (data.id !== this.#id) return;
    if (data.error) {
      this.#asked = '';
      this.onState('failed');
      return;
    }
    const { from, to, width, height } = data;
    const picture = document.createElement('canvas');
    picture.width = width;
    picture.height = height;
    picture.getContext('2d').putImageData(new ImageData(new Uint8ClampedArray(data.pixels), width, height), 0, 0);
    this.#picture = { from, to, picture };
    this.#draw(this.#view);
    if (data.isDone) this.onState(data.isWhole ? 'whole' : 'sampled');
  }

  #draw(view) {
    const { canvas } = this;
    const scale = Math.min(2, devicePixelRatio);
    const width = Math.round(canvas.clientWidth * scale);
    const height = Math.round(canvas.clientHeight * scale);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const context = canvas.getContext('2d');
    context.fillStyle = '#000004';
    context.fillRect(0, 0, width, height);
    if (this.#picture && width) {
      const { from, to, picture } = this.#picture;
      const pixels = width / view.length;
      context.imageSmoothingEnabled = false;
      context.drawImage(picture, (from - view.from) * pixels, 0, (to - from) * pixels, height);
    }
    this.#drawAxis(context, width, height, scale);
  }

  #drawAxis(context, width, height, scale) {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const text = 0.75 * rem * scale;
    context.font = `${text}px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    let free = height;
    for (const hertz of this.#ticks()) {
      const y = height * (1 - this.#share(hertz));
      if (y > free - text * 0.6 || y < text * 0.6) continue;
      free = y - text;
      const label = hertz >= 1000 ? `${hertz / 1000} kHz` : `${hertz} Hz`;
      context.fillStyle = 'rgb(0 0 0 / 70%)';
      context.fillRect(0, y - text * 0.65, context.measureText(label).width + text, text * 1.3);
      context.fillStyle = '#fff';
      context.fillRect(0, Math.round(y), text * 0.35, scale);
      context.fillText(label, text * 0.5, y);
    }
  }

  #share(hertz) {
    const nyquist = this.take.rate_hz / 2;
    return this.settings.isLogarithmic
      ? Math.log(hertz / lowestHertz) / Math.log(nyquist / lowestHertz) : hertz / nyquist;
  }

  #ticks() {
    const nyquist = this.take.rate_hz / 2;
    if (this.settings.isLogarithmic) {
      const decades = [10, 100, 1000, 10000, 100000];
      return decades.flatMap((decade) => [1, 2, 5].map((step) => decade * step))
        .filter((hertz) => hertz > lowestHertz && hertz < nyquist);
    }
    const step = [1000, 2000, 5000, 10000, 20000, 50000].find((hertz) => nyquist / hertz <= 8) ?? 100000;
    return Array.from({ length: Math.floor(nyquist / step) }, (_, index) => (index + 1) * step);
  }
}
