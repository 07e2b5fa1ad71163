import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';

// Built before the tests, with the program.
const built = join(projectRoot, 'dist/ui');
const page = readFileSync(join(built, 'index.html'), 'utf8');
const assets = readdirSync(join(built, 'assets'));

/** Bytes as they are sent. */
function sentBytes(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + readFileSync(join(built, 'assets', `${file}.gz`)).length, 0);
}

test('the first page needs at most 45 kB of scripts and 8 kB of styles, in two requests', () => {
  const needed = [...page.matchAll(/(?:src|href)="\.\/assets\/([^"]+)"/g)].map(([, file = '']) => file);
  expect(needed.map((file) => file.replace(/^.*\./, ''))).toEqual(['js', 'css']);
  expect(sentBytes(needed.filter((file) => file.endsWith('.js')))).toBeLessThanOrEqual(45_000);
  expect(sentBytes(needed.filter((file) => file.endsWith('.css')))).toBeLessThanOrEqual(8_000);
});

test('all scripts together have at most 100 kB', () => {
  const scripts = assets.filter((file) => file.endsWith('.js'));
  const bytes = sentBytes(scripts);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(100_000);
});

test('the page is built without the places of its elements, also below a test runner', () => {
  for (const file of assets.filter((name) => name.endsWith('.js')))
    expect([file, readFileSync(join(built, 'assets', file), 'utf8')]).toEqual([
      file,
      expect.not.stringContaining('columnNumber:'),
    ]);
});

test('every file has its compressed copy', () => {
  for (const file of assets.filter((name) => !name.endsWith('.gz'))) {
    const copy = gunzipSync(readFileSync(join(built, 'assets', `${file}.gz`)));
    expect(copy.equals(readFileSync(join(built, 'assets', file)))).toBe(true);
  }
});

test('the page has no script or style in itself, and no absolute address', () => {
  expect(page).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=/);
  expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url)).toEqual(
    [...page.matchAll(/(?:src|href)="((?:\.\/assets\/|data:image\/svg)[^"]*)"/g)].map(([, url]) => url),
  );
});

test('no source of the page sets HTML', () => {
  const directory = join(projectRoot, 'ui');
  const sources = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const setters = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write/;
  expect(sources.length).toBeGreaterThan(20);
  expect(sources.filter((file) => setters.test(readFileSync(join(directory, file), 'utf8')))).toEqual([]);
});
