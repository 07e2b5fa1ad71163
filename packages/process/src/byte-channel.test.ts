import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openByteChannel } from './byte-channel.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'byte-channel-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** The text that arrives when it is written into the other end. */
async function sent(text: string, parent: string): Promise<string> {
  let received = '';
  const channel = await openByteChannel((bytes) => {
    received += bytes.toString();
  }, parent);
  channel.childEnd.end(text);
  await channel.closed;
  return received;
}

test('openByteChannel() leaves nothing in the directory it used', async () => {
  expect(await sent('hello', directory)).toBe('hello');
  expect(readdirSync(directory)).toEqual([]);
});

test('openByteChannel() does without a directory whose path is too long for a socket', async () => {
  const deep = join(directory, 'd'.repeat(100));
  mkdirSync(deep);
  expect(await sent('hello', deep)).toBe('hello');
});

test('openByteChannel() fails where it cannot write', async () => {
  await expect(sent('hello', join(directory, 'missing'))).rejects.toThrow('ENOENT');
});
