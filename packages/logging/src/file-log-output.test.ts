import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileLogOutput } from './file-log-output.ts';

test('fileLogOutput() begins a new file and keeps the one before', () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const path = join(directory, 'daemon.log');
  fileLogOutput(path).write('first\n');
  const output = fileLogOutput(path);
  output.write('second\n');
  output.write('third\n');
  expect(readFileSync(path, 'utf8')).toBe('second\nthird\n');
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('first\n');
  rmSync(directory, { recursive: true });
});
