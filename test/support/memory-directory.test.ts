import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { makeMemoryDirectory } from './memory-directory.ts';

const MODULE = JSON.stringify(join(import.meta.dirname, 'memory-directory.ts'));
const HAS_MEMORY = existsSync('/dev/shm') && freemem() > 13 * 2 ** 30;

/** The directory that a process makes which does this in the end, as it is then. */
async function directoryOf(end: string): Promise<string> {
  const script = `
    import { writeFileSync } from 'node:fs';
    import { makeMemoryDirectory } from ${MODULE};
    const directory = makeMemoryDirectory();
    console.log(directory);
    writeFileSync(directory + '/file', 'content');
    ${end}`;
  const args = ['--input-type=module', '--no-warnings', '-e', script];
  const { stdout } = await execa(process.execPath, args, { reject: false });
  return stdout;
}

test.skipIf(!HAS_MEMORY)('the directory in memory is removed when the process ends', async () => {
  const directory = await directoryOf('');
  expect(directory).toMatch(/^\/dev\/shm\/addon-op-\d+$/);
  expect(existsSync(directory)).toBe(false);
});

test.skipIf(!HAS_MEMORY)('the directory of a process that was killed is removed by the next', async () => {
  const killed = await directoryOf(`process.kill(process.pid, 'SIGKILL');`);
  expect(readdirSync(killed)).toEqual(['file']);
  const next = await directoryOf('');
  expect([existsSync(killed), existsSync(next)]).toEqual([false, false]);
});

test('there is no directory in memory where files are on a disk, or where there is no directory', () => {
  const parent = mkdtempSync(join(import.meta.dirname, '../../node_modules/.disk-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  mkdirSync(join(parent, 'addon-op-1'));
  expect(makeMemoryDirectory(parent)).toBeUndefined();
  expect(readdirSync(parent)).toEqual(['addon-op-1']);
  expect(makeMemoryDirectory(join(tmpdir(), 'none'))).toBeUndefined();
});
