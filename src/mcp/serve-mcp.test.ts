import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { serveMcp } from './serve-mcp.ts';

const signal = new AbortController().signal;

test('responses come when they are ready, empty lines are skipped, and the end waits for the last response', async () => {
  const input = new PassThrough();
  const written: string[] = [];
  const slow = Promise.withResolvers<void>();
  const session = {
    handle: async (line: string) => {
      if (line === 'slow') await slow.promise;
      return line === 'silent' ? undefined : line;
    },
  };
  const served = serveMcp(session, { input, write: (line) => void written.push(line) }, signal);
  input.end('slow\n\nfast\r\nsilent\nlast');
  while (written.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual(['fast\n', 'last\n']);
  slow.resolve();
  await served;
  expect(written).toEqual(['fast\n', 'last\n', 'slow\n']);
});

test('at most 16 requests are in progress', async () => {
  const input = new PassThrough();
  const gate = Promise.withResolvers<void>();
  const running: number[] = [];
  let most = 0;
  const handle = async (): Promise<undefined> => {
    running.push(0);
    most = Math.max(most, running.length);
    await gate.promise;
    running.pop();
  };
  const served = serveMcp({ handle }, { input, write: () => undefined }, signal);
  input.end('x\n'.repeat(100));
  while (running.length < 16) await new Promise((resolve) => setImmediate(resolve));
  gate.resolve();
  await served;
  expect(most).toBe(16);
});
