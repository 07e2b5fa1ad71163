import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rememberedVersion, rememberVersion } from './remembered-version.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'remembered-version-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('rememberedVersion() knows an executable until it is replaced', () => {
  const [helm, note] = [join(directory, 'helm'), join(directory, 'private', 'note')];
  writeFileSync(helm, 'one');
  expect(rememberedVersion(note, helm)).toBeUndefined();
  rememberVersion(note, helm, 'v3.17.3');
  expect(rememberedVersion(note, helm)).toBe('v3.17.3');
  writeFileSync(helm, 'another');
  expect(rememberedVersion(note, helm)).toBeUndefined();
});

test('rememberedVersion() passes over a broken note', () => {
  const [helm, note] = [join(directory, 'helm'), join(directory, 'note')];
  writeFileSync(helm, 'one');
  writeFileSync(note, '{');
  expect(rememberedVersion(note, helm)).toBeUndefined();
});

test('rememberVersion() goes on where nothing can be written', () => {
  const [helm, note] = [join(directory, 'helm'), join(directory, 'helm', 'note')];
  writeFileSync(helm, 'one');
  rememberVersion(note, helm, 'v3.17.3');
  expect(rememberedVersion(note, helm)).toBeUndefined();
});
