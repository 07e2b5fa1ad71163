import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { OWN_CODE } from './own-code.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

test.skipIf(process.platform !== 'linux')('what stdout cannot take is reported on stderr', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const { stderr, signal } = spawnSync(process.execPath, [MAIN, 'version'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    expect(stderr).toContain('error: cannot write to stdout: ENOSPC');
    expect(signal).toBe('SIGTERM');
  } finally {
    closeSync(full);
  }
});

/** Runs the built program with a directory for what V8 has compiled. */
function runBuilt(compileCache: string): {
  readonly status: number | null;
  readonly output: readonly string[];
} {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('main.js', OWN_CODE)), 'version'],
    { encoding: 'utf8', env: { NODE_COMPILE_CACHE: compileCache } },
  );
  return { status, output: [stdout, stderr] };
}

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test('a command runs as usual when the cache of compiled code cannot be used', () => {
  const directory = mkdtempSync(join(tmpdir(), 'compile-cache-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const good = join(directory, 'good');
  const expected = runBuilt(good);
  expect(expected).toEqual({ status: 0, output: [expect.stringMatching(/\d/), ''] });
  expect(filesIn(good)).not.toEqual([]);

  const damaged = join(directory, 'damaged');
  cpSync(good, damaged, { recursive: true });
  for (const [index, file] of filesIn(damaged).entries())
    writeFileSync(file, index % 2 === 0 ? '' : 'x'.repeat(10_000));
  const [version = ''] = readdirSync(good);
  const other = join(directory, 'other');
  cpSync(good, other, { recursive: true });
  for (const file of filesIn(other)) writeFileSync(file, Buffer.alloc(100));
  renameSync(join(other, version), join(other, 'v1.0.0-x64-00000000-0'));
  // It cannot be written to, also not by root.
  const file = join(directory, 'file');
  writeFileSync(file, '');
  for (const cache of [damaged, other, file]) expect([cache, runBuilt(cache)]).toEqual([cache, expected]);
});
