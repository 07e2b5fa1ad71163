import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const config = (count: number): string => `
import { limitedWorkers } from ${JSON.stringify(join(import.meta.dirname, 'limited-workers.ts'))};
const shared = { isolate: false, maxWorkers: 3, sequence: { groupOrder: 1 }, testTimeout: 60_000 };
export default {
  cacheDir: '.cache',
  test: {
    projects: [
      { test: { ...shared, name: 'limited', include: ['limited-*.test.mjs'], pool: limitedWorkers(${count}) } },
      { test: { ...shared, name: 'other', include: ['other.test.mjs'], pool: 'forks' } },
    ],
  },
};
`;
/** Begins a test file: writes its name and its process at its begin and at its end. */
const LOGGED = `
import { appendFile, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
const write = (event) => appendFile('log', event + ' ' + basename(expect.getState().testPath) + ' ' + process.pid + '\\n');
const untilLogged = (text, times) =>
  vi.waitFor(async () => expect((await readFile('log', 'utf8')).split(text).length).toBeGreaterThan(times), 60_000);
beforeAll(() => write('begin'));
afterAll(() => write('end'));
`;
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'limited-workers-'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Runs vitest on test files with these ends, each by its name, with so many workers for those of the project. */
async function run(
  count: number,
  files: Readonly<Record<string, string>>,
): Promise<{ code?: number; output: string }> {
  await writeFile(join(directory, 'vitest.config.mjs'), config(count));
  for (const [name, end] of Object.entries(files))
    await writeFile(join(directory, `${name}.test.mjs`), LOGGED + end);
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { exitCode, all } = await execa(process.execPath, [vitest, 'run'], {
    cwd: directory,
    reject: false,
    all: true,
    env: { NO_COLOR: '1' },
  });
  return { ...(exitCode === undefined ? {} : { code: exitCode }), output: all };
}

/** Of the project with a limit: how many processes ran files, and how many files ran at once at most. */
async function usedWorkers(): Promise<{ processes: number; atOnce: number }> {
  const lines = (await readFile(join(directory, 'log'), 'utf8')).split('\n').map((line) => line.split(' '));
  const ours = lines.filter(([, file = '']) => file.startsWith('limited-'));
  let running = 0;
  let atOnce = 0;
  for (const [event] of ours) {
    running += event === 'begin' ? 1 : -1;
    atOnce = Math.max(atOnce, running);
  }
  return { processes: new Set(ours.map(([, , pid]) => pid)).size, atOnce };
}

const SHORT = `test('is short', () => undefined);`;
const MEETS_OTHER = `test('runs while the other project does', () => untilLogged('begin other', 1));`;
const MEETS_ITS_LIKE = `test('runs while another of its project does', () => untilLogged('begin limited', 2));`;

test('one worker runs the files of a project, one at a time, while those of others run', async () => {
  const { code, output } = await run(1, {
    'limited-a': MEETS_OTHER,
    'limited-b': SHORT,
    'limited-c': MEETS_OTHER,
    'limited-d': SHORT,
    other: `test('runs while they do', () => untilLogged('end limited', 4));`,
  });
  expect(output).toMatch(/Tests +5 passed/);
  expect(code).toBe(0);
  expect(await usedWorkers()).toEqual({ processes: 1, atOnce: 1 });
});

test('two workers run the files of a project, two at a time', async () => {
  const { code, output } = await run(2, {
    'limited-a': MEETS_ITS_LIKE,
    'limited-b': MEETS_ITS_LIKE,
    'limited-c': MEETS_ITS_LIKE,
    'limited-d': MEETS_ITS_LIKE,
  });
  expect(output).toMatch(/Tests +4 passed/);
  expect(code).toBe(0);
  expect(await usedWorkers()).toEqual({ processes: 2, atOnce: 2 });
});

test('a failed test of a file that was passed on fails the run', async () => {
  const { code, output } = await run(1, {
    'limited-a': SHORT,
    'limited-b': `test('fails', () => expect(1).toBe(2));`,
  });
  expect(output).toMatch(/Tests +1 failed \| 1 passed/);
  expect(code).toBe(1);
});

test('the end of a worker is reported with the file that ran and those that did not', async () => {
  const dies = `test('dies', () => process.kill(process.pid, 'SIGKILL'));`;
  const { code, output } = await run(1, { 'limited-a': dies, 'limited-b': dies });
  expect(output).toMatch(
    /A worker of project limited has ended \(SIGKILL\) while it ran \S+limited-[ab]\.test\.mjs, and these did not run: \S+limited-[ab]\.test\.mjs/,
  );
  expect(code).toBe(1);
});
