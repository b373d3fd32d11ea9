import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load } from './browser.js';

let Listening;
define({ AudioWorkletProcessor: class { port = {}; }, registerProcessor: (_, processor) => { Listening = processor; } });
await load('listen-worklet.js');

/** A player that is sent mono pieces, counted from 1 on, and plays four frames at a time. */
function listening(channelCount = 1) {
  const processor = new Listening({ processorOptions: { aim: 8, most: 20 } });
  let number = 0;
  return {
    send: (frames) => processor.port.onmessage({ data: [Float32Array.from({ length: frames }, () => { number += 1; return number; })] }),
    sendStereo: (left, right) => processor.port.onmessage({ data: [Float32Array.from(left), Float32Array.from(right)] }),
    play() {
      const output = Array.from({ length: channelCount }, () => new Float32Array(4));
      assert.equal(processor.process([], [output]), true);
      return output.map((samples) => [...samples]);
    },
  };
}

test('it plays once as much is there as it aims at, in order, across pieces', () => {
  const player = listening();
  player.send(5);
  assert.deepEqual(player.play(), [[0, 0, 0, 0]]);
  player.send(5);
  assert.deepEqual([player.play(), player.play()], [[[1, 2, 3, 4]], [[5, 6, 7, 8]]]);
});

test('once it has too little, it waits until it has as much as it aims at again', () => {
  const player = listening();
  player.send(10);
  player.play();
  player.play();
  assert.deepEqual(player.play(), [[0, 0, 0, 0]]);
  player.send(5);
  assert.deepEqual(player.play(), [[0, 0, 0, 0]]);
  player.send(1);
  assert.deepEqual(player.play(), [[9, 10, 11, 12]]);
});

test('what is late is dropped up to the aim', () => {
  const player = listening();
  player.send(12);
  player.send(8);
  assert.deepEqual(player.play(), [[1, 2, 3, 4]]);
  player.send(5);
  // 21 frames were held, of which 8 remain.
  assert.deepEqual([player.play(), player.play()], [[[18, 19, 20, 21]], [[22, 23, 24, 25]]]);
});

test('mono is played on both sides, and stereo on its own', () => {
  const mono = listening(2);
  mono.send(8);
  assert.deepEqual(mono.play(), [[1, 2, 3, 4], [1, 2, 3, 4]]);
  const stereo = listening(2);
  stereo.sendStereo([1, 2, 3, 4, 0, 0, 0, 0], [5, 6, 7, 8, 0, 0, 0, 0]);
  assert.deepEqual(stereo.play(), [[1, 2, 3, 4], [5, 6, 7, 8]]);
});
