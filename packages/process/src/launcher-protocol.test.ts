import { expect, test } from 'vitest';
import {
  decodeStarted,
  encodeFrame,
  encodeJsonFrame,
  encodeStarted,
  FRAME_HEADER_BYTES,
  FRAME_KINDS,
  FrameReader,
} from './launcher-protocol.ts';

test('FrameReader hands over the same frames however the stream is cut', () => {
  const stream = Buffer.concat([
    encodeFrame(FRAME_KINDS.stdout, 7, Buffer.from('hello')),
    encodeFrame(FRAME_KINDS.finish, 4_000_000_000),
    encodeJsonFrame(FRAME_KINDS.failed, 8, { code: 'ENOENT', reason: 'gone' }),
    encodeFrame(FRAME_KINDS.stderr, 7, Buffer.from('world')),
  ]);
  for (let step = 1; step <= stream.length; step += 1) {
    const frames: unknown[] = [];
    const output: Record<number, string> = { [FRAME_KINDS.stdout]: '', [FRAME_KINDS.stderr]: '' };
    const reader = new FrameReader((kind, run, payload) => {
      if (output[kind] === undefined) frames.push([kind, run, payload.toString()]);
      else output[kind] += payload.toString();
    });
    const chunk = Buffer.alloc(step);
    for (let at = 0; at < stream.length; at += step) {
      reader.push(chunk.subarray(0, stream.copy(chunk, 0, at, at + step)));
    }
    expect(output).toEqual({ [FRAME_KINDS.stdout]: 'hello', [FRAME_KINDS.stderr]: 'world' });
    expect(frames).toEqual([
      [FRAME_KINDS.finish, 4_000_000_000, ''],
      [FRAME_KINDS.failed, 8, '{"code":"ENOENT","reason":"gone"}'],
    ]);
  }
});

test('FrameReader hands on output before its frame is complete', () => {
  const seen: string[] = [];
  const reader = new FrameReader((_kind, _run, payload) => seen.push(payload.toString()));
  reader.push(encodeFrame(FRAME_KINDS.stdout, 1, Buffer.from('begun')).subarray(0, 12));
  expect(seen).toEqual(['beg']);
});

test.each([
  { pid: 4_194_304, start: '1234567890123' },
  { pid: 1, start: undefined },
])('decodeStarted() gives what encodeStarted() took: %j', (started) => {
  expect(decodeStarted(encodeStarted(9, started).subarray(FRAME_HEADER_BYTES))).toEqual(started);
});
