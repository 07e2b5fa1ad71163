import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StartedCommand } from '../support/started-command.ts';

const EXECUTABLE = fileURLToPath(new URL('../../bin/addon-operator', import.meta.url));
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'long-socket-path-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test('a sandbox whose socket is in the temporary directory leaves nothing there', {
  timeout: 90_000,
}, async () => {
  const [work, temporary] = [join(directory, 'x'.repeat(100)), join(directory, 'tmp')];
  for (const path of [work, temporary]) mkdirSync(path);
  const dirs = [
    ['--modules-dir', join(work, 'modules')],
    ['--global-hooks-dir', join(work, 'global-hooks')],
    ['--state-dir', join(work, 'state')],
  ].flat();
  for (const path of ['modules', 'global-hooks']) mkdirSync(join(work, path));
  const env = { ...process.env, TMPDIR: temporary };
  const sandbox = new StartedCommand(EXECUTABLE, ['sandbox', ...dirs], env);
  await sandbox.until('What happens from now on');
  expect(readdirSync(temporary)).toContainEqual(expect.stringMatching(/^addon-operator-[0-9a-f]{12}$/));
  sandbox.kill('SIGINT');
  expect(await sandbox.exitCode).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
});
