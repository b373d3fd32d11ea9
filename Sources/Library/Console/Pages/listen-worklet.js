// Plays the received samples in order. If more than `most` frames are queued, they are dropped down to `aim`.

class Listening extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    Object.assign(this, processorOptions);
    this.queue = [];
    this.held = 0;
    this.isFilling = true;
    this.port.onmessage = ({ data }) => this.push(data);
  }

  push(piece) {
    this.queue.push({ piece, at: 0 });
    this.held += piece[0].length;
    if (this.held > this.most) this.drop(this.held - this.aim);
    if (this.held >= this.aim) this.isFilling = false;
  }

  /** Takes frames from the queue, and writes them to `output` if there is one. */
  drop(count, output = null) {
    let done = 0;
    while (done < count && this.queue.length) {
      const entry = this.queue[0];
      const some = Math.min(count - done, entry.piece[0].length - entry.at);
      output?.forEach((samples, channel) => {
        const source = entry.piece[Math.min(channel, entry.piece.length - 1)];
        samples.set(source.subarray(entry.at, entry.at + some), done);
      });
      entry.at += some;
      done += some;
      if (entry.at === entry.piece[0].length) this.queue.shift();
    }
    this.held -= done;
  }

  process(_, [output]) {
    // An empty queue is refilled before playback continues, so that there is one pause instead of many.
    if (this.held < output[0].length) this.isFilling = true;
    if (!this.isFilling) this.drop(output[0].length, output);
    return true;
  }
}

registerProcessor('listening', Listening);
