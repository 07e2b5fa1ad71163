import { array, assert, json, nat, property } from 'fast-check';
import { expect, test } from 'vitest';
import { MessageReader, messageLine } from './message-reader.ts';

test('messages come out as they went in, however the stream is cut', () => {
  assert(
    property(array(json().map((text): unknown => JSON.parse(text))), nat(7), (messages, size) => {
      const seen: unknown[] = [];
      const reader = new MessageReader((message) => seen.push(message));
      const text = messages.map(messageLine).join('');
      for (let at = 0; at < text.length; at += size + 1) reader.push(text.slice(at, at + size + 1));
      expect(seen).toEqual(messages.map((message): unknown => JSON.parse(JSON.stringify(message))));
      expect(reader.restLength).toBe(0);
    }),
  );
});

test('a message that has begun waits for its end', () => {
  const seen: unknown[] = [];
  const reader = new MessageReader((message) => seen.push(message));
  reader.push('{"a":');
  expect([seen.length, reader.restLength]).toEqual([0, 5]);
  reader.push('1}\n');
  expect([seen, reader.restLength]).toEqual([[{ a: 1 }], 0]);
});
