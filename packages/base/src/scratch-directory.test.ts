import { existsSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchDirectory } from './scratch-directory.ts';

test('scratchDirectory() is private, another one each time, and gone with its content at the end', async () => {
  const running = new AsyncDisposableStack();
  const [one, other] = [await scratchDirectory(running), await scratchDirectory(running)];
  expect(one).not.toBe(other);
  expect(isAbsolute(one)).toBe(true);
  expect(statSync(one).mode & 0o777).toBe(0o700);
  await mkdir(join(one, 'a'));
  await writeFile(join(one, 'a/file'), '');
  await running.disposeAsync();
  expect([existsSync(one), existsSync(other)]).toEqual([false, false]);
});
