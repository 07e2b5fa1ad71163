import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findExecutable, inspectExecutable } from './executable-file.ts';

let directory = '';

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'executable-file-'));
});

afterAll(() => rmSync(directory, { recursive: true }));

function write(name: string, content: string | Buffer, mode = 0o755): string {
  const file = path.join(directory, name);
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

test.each<[string, string]>([
  ['#!/bin/sh\necho', '/bin/sh'],
  ['#! /usr/bin/env bash\n', '/usr/bin/env'],
  ['#!\t/bin/sh -e', '/bin/sh'],
  ['#!/bin/sh\r\necho\r\n', '/bin/sh\r'],
])('inspectExecutable() reads the interpreter line %j', (content, interpreter) => {
  expect(inspectExecutable(write('script', content))).toEqual({ type: 'script', interpreter });
});

test.each<[string, string, RegExp]>([
  ['an empty file', '', /empty/],
  ['a script without interpreter line', 'echo hello\n', /interpreter line/],
  ['an interpreter line that names nothing', '#! \n', /names no interpreter/],
  ['a file of two bytes', '\u007fE', /neither/],
])('inspectExecutable() refuses %s', (_name, content, reason) => {
  const found = inspectExecutable(write('refused', content));
  expect(found).toEqual({ type: 'refused', reason: expect.stringMatching(reason) });
});

test.skipIf(process.platform !== 'linux')(
  'inspectExecutable() distinguishes a whole ELF program from one cut short',
  () => {
    const whole = readFileSync('/bin/sh');
    expect(inspectExecutable(write('whole', whole))).toEqual({ type: 'binary' });
    for (const sizeBytes of [4, 40, 200, 5000, whole.length >> 1]) {
      const found = inspectExecutable(write(`cut-${sizeBytes}`, whole.subarray(0, sizeBytes)));
      expect(found).toEqual({ type: 'refused', reason: expect.stringContaining('cut short') });
    }
  },
);

test('inspectExecutable() refuses a directory and leaves a missing file to the spawn', () => {
  expect(inspectExecutable(directory)).toMatchObject({ type: 'refused' });
  expect(inspectExecutable(path.join(directory, 'missing'))).toEqual({ type: 'unreadable' });
});

test('findExecutable() takes the first executable file in PATH', () => {
  for (const name of ['one', 'two', 'three']) mkdirSync(path.join(directory, name));
  mkdirSync(path.join(directory, 'one/tool'));
  write('two/tool', '#!/bin/sh\n', 0o644);
  const expected = write('three/tool', '#!/bin/sh\n');
  const pathVariable = ['missing', 'one', 'two', 'three'].map((name) => path.join(directory, name)).join(':');
  expect(findExecutable('tool', pathVariable)).toBe(expected);
  expect(findExecutable('other', pathVariable)).toBeUndefined();
  expect(findExecutable('/any/path', pathVariable)).toBe('/any/path');
});
