import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

test.skipIf(process.platform !== 'linux')('what stdout cannot take is told on stderr', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const { stderr, signal } = spawnSync(process.execPath, [MAIN, 'version'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    expect(stderr).toContain('Error: cannot write to stdout: ENOSPC');
    expect(signal).toBe('SIGTERM');
  } finally {
    closeSync(full);
  }
});
