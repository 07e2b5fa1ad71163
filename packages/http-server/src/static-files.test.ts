import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { StaticFiles } from './static-files.ts';

function builtPage(files: Readonly<Record<string, string>>): StaticFiles {
  const parent = mkdtempSync(join(tmpdir(), 'page-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const directory = join(parent, 'ui');
  mkdirSync(join(directory, 'assets'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  writeFileSync(join(parent, 'secret.js'), 'secret');
  return new StaticFiles(directory);
}

const FILES = {
  'assets/a-12ab.js': 'plain',
  'assets/a-12ab.js.br': 'brotli',
  'assets/a-12ab.js.gz': 'gzipped',
  'assets/b.css': 'plain',
  'assets/b.css.gz': 'gzipped',
  'assets/.hidden.js': 'hidden',
  'assets/a.html': '<script>',
};

test.each([
  ['assets/a-12ab.js', 'gzip, deflate, br, zstd', 'brotli', 'br'],
  ['assets/a-12ab.js', 'GZIP', 'gzipped', 'gzip'],
  ['assets/a-12ab.js', 'br;q=0, gzip;q=0.5', 'gzipped', 'gzip'],
  ['assets/a-12ab.js', 'br;q=0.0', 'plain', undefined],
  ['assets/a-12ab.js', '', 'plain', undefined],
  ['assets/b.css', 'br, gzip', 'gzipped', 'gzip'],
  ['assets/b.css', 'br', 'plain', undefined],
])('%s for a browser that accepts %j', async (name, accepted, text, encoding) => {
  const file = await builtPage(FILES).file(name, accepted);
  expect(file).toMatchObject({ encoding, contentType: expect.stringMatching(/^text\/(javascript|css)/) });
  expect(Buffer.from(file?.bytes ?? []).toString()).toBe(text);
});

test.each([
  '../secret.js',
  'assets/../../secret.js',
  'assets/..\\..\\secret.js',
  '/secret.js',
  './a.js',
  'assets/.hidden.js',
  'assets/a.html',
  'assets/sub/a.js',
  'assets',
  '',
  'a.js\0.css',
  'index.html',
  'missing.js',
])('%j is not a file of the page', async (name) => {
  expect(await builtPage(FILES).file(name, 'br')).toBeUndefined();
});

test('a page that was not built has no index', async () => {
  expect(await builtPage(FILES).index()).toBeUndefined();
});
