// Reads the WAV files of the console: PCM of 8 to 32 bits and IEEE float, one `fmt ` and one `data` chunk.

/**
 * The samples of a WAV file.
 * @param {ArrayBuffer} buffer The whole file.
 * @returns {{rate: number, frames: number, channels: Float32Array[]}} Samples with full scale 1, one array for each channel.
 * @throws {Error} If it is not a WAV file, or its format is unknown.
 */
export function readWAV(buffer) {
  const view = new DataView(buffer);
  const { format, data, length } = findChunks(view);
  const frames = Math.floor(length / format.frameBytes);
  const read = sampleReader(view, format);
  const channels = Array.from({ length: format.channels }, (_, channel) => {
    const samples = new Float32Array(frames);
    let offset = data + channel * format.sampleBytes;
    for (let frame = 0; frame < frames; frame++, offset += format.frameBytes) samples[frame] = read(offset);
    return samples;
  });
  return { rate: format.rate, frames, channels };
}

/**
 * Parses the header of a WAV stream.
 * @param {DataView} view Begins with `RIFF`; may end anywhere after the header of `data`.
 * @returns {{format: object, data: number, length: number}} `data` is the offset of the first sample.
 */
export function findChunks(view) {
  if (name(view, 0) !== 'RIFF' || name(view, 8) !== 'WAVE') throw new Error('not a WAV file');
  let format;
  let offset = 12;
  while (offset + 8 <= view.byteLength) {
    const size = view.getUint32(offset + 4, true);
    const start = offset + 8;
    if (name(view, offset) === 'fmt ') format = readFormat(view, start);
    if (name(view, offset) === 'data') {
      if (!format) throw new Error('a WAV file without a format');
      return { format, data: start, length: Math.min(size, view.byteLength - start) };
    }
    // Chunks begin at even offsets.
    offset = start + size + (size % 2);
  }
  throw new Error('a WAV file without sound');
}

function name(view, offset) {
  return view.byteLength < offset + 4 ? '' : String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + offset, 4));
}

function readFormat(view, offset) {
  const tag = view.getUint16(offset, true);
  const channels = view.getUint16(offset + 2, true);
  const frameBytes = view.getUint16(offset + 12, true);
  // WAVE_FORMAT_EXTENSIBLE has the real tag at the start of its subformat.
  const kind = tag === 0xfffe ? view.getUint16(offset + 24, true) : tag;
  return { kind, channels, rate: view.getUint32(offset + 4, true), frameBytes, sampleBytes: frameBytes / channels };
}

function sampleReader(view, { kind, sampleBytes }) {
  if (kind === 3 && sampleBytes === 4) return (offset) => view.getFloat32(offset, true);
  if (kind === 3 && sampleBytes === 8) return (offset) => view.getFloat64(offset, true);
  if (kind !== 1) throw new Error(`a WAV file of format ${kind}`);
  switch (sampleBytes) {
    case 1: return (offset) => (view.getUint8(offset) - 128) / 128;
    case 2: return (offset) => view.getInt16(offset, true) / 0x8000;
    case 3: return (offset) => (view.getUint16(offset, true) | (view.getInt8(offset + 2) << 16)) / 0x800000;
    case 4: return (offset) => view.getInt32(offset, true) / 0x80000000;
    default: throw new Error(`a WAV file with ${sampleBytes} bytes a sample`);
  }
}
