import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { globalHooksRoot } from './load-hooks.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'global-hooks-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

test('global hooks lie in the directory itself, or in hooks/ below it where that exists', () => {
  expect(globalHooksRoot(root)).toBe(root);
  mkdirSync(join(root, 'hooks'));
  expect(globalHooksRoot(root)).toBe(join(root, 'hooks'));
});

test('a hook with the name hooks is no directory of hooks', () => {
  writeFileSync(join(root, 'hooks'), '#!/bin/sh\n');
  chmodSync(join(root, 'hooks'), 0o755);
  expect(globalHooksRoot(root)).toBe(root);
});

test.each(['missing', 'file'])('a directory that is %s is refused by name', (name) => {
  writeFileSync(join(root, 'file'), '');
  expect(() => globalHooksRoot(join(root, name))).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${join(root, name)} `),
    }),
  );
});
