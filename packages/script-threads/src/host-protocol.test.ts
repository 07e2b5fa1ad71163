import { array, assert, json, nat, property } from 'fast-check';
import { expect, test } from 'vitest';
import { InputsToSend, MessageReader, messageLine, ReceivedInputs } from './host-protocol.ts';

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

const RUNS = [
  { values: '{"a":1}', settings: 'null' },
  { values: '{"a":1}', settings: 'null' },
  { values: '{"a":2}', settings: 'null' },
  { values: '{"a":2}', settings: '{}' },
  { values: '', settings: '' },
];

test('each run gets its kept inputs, and they are sent only when they have changed', () => {
  const [sender, receiver] = [new InputsToSend(), new ReceivedInputs()];
  const sent = RUNS.map((inputs) => sender.next(inputs));
  expect(sent.map((inputs) => Object.keys(inputs).length)).toEqual([2, 0, 1, 1, 2]);
  expect(sent.map((inputs) => receiver.next(inputs))).toEqual(RUNS);
});
