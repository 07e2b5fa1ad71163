import { expect, test } from 'vitest';
import { acknowledge, createInFlightCounter, WorkerOutput } from './worker-output.ts';

const MIB = 1024 * 1024;

/** An output whose pieces are passed on at once, and what it has sent. */
function collected(): { readonly output: WorkerOutput; readonly sent: () => Record<string, string> } {
  const counter = createInFlightCounter();
  const texts: Record<string, string> = { stdout: '', stderr: '' };
  const output = new WorkerOutput(counter, (stream, text) => {
    texts[stream] += text;
    acknowledge(counter, Buffer.byteLength(text));
  });
  return { output, sent: () => texts };
}

test('write() keeps a character whole of which each half comes by itself', () => {
  const { output, sent } = collected();
  const bytes = Buffer.from('aé');
  output.write('stdout', bytes.subarray(0, 2));
  output.write('stderr', Buffer.from('b'));
  output.write('stdout', bytes.subarray(2));
  expect(sent()).toEqual({ stdout: 'aé', stderr: 'b' });
});

test('write() keeps a character whole where a long output is cut', () => {
  const { output, sent } = collected();
  const text = `${'x'.repeat(MIB - 1)}é${'y'.repeat(3)}`;
  output.write('stdout', Buffer.from(text));
  expect(sent()['stdout']).toBe(text);
});

test('write() sends up to the limit of a run and counts the rest; the next run begins anew', () => {
  const { output, sent } = collected();
  output.begin(3);
  output.write('stdout', Buffer.from('ab'));
  output.write('stdout', Buffer.from('éz'));
  expect(output.droppedBytes).toBe(2);
  output.begin(undefined);
  output.write('stdout', Buffer.from('next'));
  expect(sent()['stdout']).toBe('abnext');
  expect(output.droppedBytes).toBe(0);
});
