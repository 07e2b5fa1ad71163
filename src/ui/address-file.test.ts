import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readKeptToken, writeAddressFile } from './address-file.ts';

const TOKEN = 'a'.repeat(43);
let directory = '';
let file = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'address-'));
  file = join(directory, 'debug.socket.ui');
});
afterEach(() => rm(directory, { recursive: true }));

test('the token of an operator that was killed is used again', async () => {
  expect(await readKeptToken(file)).toBeUndefined();
  await writeAddressFile(file, `http://127.0.0.1:9652/ui/#token=${TOKEN}`);
  expect(await readKeptToken(file)).toBe(TOKEN);
});

test('no token is taken from a file that others can read, a link, a directory or another text', async () => {
  await writeAddressFile(file, `http://127.0.0.1:9652/ui/#token=${TOKEN}`);
  const link = join(directory, 'link');
  await symlink(file, link);
  expect(await readKeptToken(link)).toBeUndefined();
  expect(await readKeptToken(directory)).toBeUndefined();
  await chmod(file, 0o640);
  expect(await readKeptToken(file)).toBeUndefined();
  await chmod(file, 0o600);
  await writeFile(file, 'http://127.0.0.1:9652/ui/#token=short\n');
  expect(await readKeptToken(file)).toBeUndefined();
});
