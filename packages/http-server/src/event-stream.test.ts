import { expect, test } from 'vitest';
import { EventStreamParser } from './event-stream.ts';

const TEXT =
  'event: hello\ndata: {"a":1}\n\n: heartbeat\n\nid: b.7\nevent: run\ndata: one\ndata: two\n\ndata:x\r\n\r\n';
const EVENTS = [
  { event: 'hello', data: '{"a":1}', id: '' },
  { event: 'run', data: 'one\ntwo', id: 'b.7' },
  { event: 'message', data: 'x', id: 'b.7' },
];

test('the parser reads events with names, ids and several lines, and skips comments', () => {
  expect(new EventStreamParser().push(TEXT)).toEqual(EVENTS);
});

test('the parser reads the same events, wherever the text is cut', () => {
  for (let size = 1; size <= TEXT.length; size += 1) {
    const parser = new EventStreamParser();
    const pieces = TEXT.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(EVENTS);
  }
});

test('an event without data, or without its end, is not returned', () => {
  expect(new EventStreamParser().push('event: ready\n\nevent: run\ndata: 1\n')).toEqual([]);
});
