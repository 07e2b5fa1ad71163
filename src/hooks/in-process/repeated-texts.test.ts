import { expect, test } from 'vitest';
import { ReceivedTexts, TextsToSend } from './repeated-texts.ts';

const RUNS = [
  { bindingContext: '[1]', values: '{"a":1}', configValues: 'null' },
  { bindingContext: '[2]', values: '{"a":1}', configValues: 'null' },
  { bindingContext: '[2]', values: '{"a":2}', configValues: 'null' },
  { bindingContext: '[2]', values: '{"a":2}', configValues: '{}' },
  { bindingContext: '[2]', values: '', configValues: '' },
];

test('each run gets its texts, and values are sent only when they have changed', () => {
  const [sender, receiver] = [new TextsToSend(), new ReceivedTexts()];
  const sent = RUNS.map((texts) => sender.next(texts));
  expect(sent.map((texts) => Object.keys(texts).length)).toEqual([3, 1, 2, 2, 3]);
  expect(sent.map((texts) => receiver.next(texts))).toEqual(RUNS);
});
