import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { runCli } from './run-cli.ts';

async function run(...args: readonly string[]): Promise<string> {
  let stdout = '';
  await runCli(args, {
    env: {},
    cwd: '/',
    clock: new FakeClock(),
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: () => true },
    stopSignal: () => new AbortController().signal,
  });
  return stdout;
}

const CASES: readonly [string, readonly string[], readonly string[]][] = [
  ['commands by their beginning', ['modu'], ['module']],
  ['commands of a command', ['queue', ''], ['list', 'main', 'retry']],
  ['choices of an option', ['queue', 'list', '-o', ''], ['json', 'name', 'table', 'text', 'wide', 'yaml']],
  ['choices behind =', ['queue', 'list', '--output=j'], ['--output=json']],
  ['choices behind =, where the shell breaks words there', ['queue', 'list', '--output', '=', 'j'], ['json']],
  ['all choices right behind =', ['hook', 'run', 'a', '--output', '='], ['json', 'text']],
  ['commands behind the value of a flag', ['wait', '--timeout', '=', '1m', 'mod'], ['module']],
  ['flags, hidden ones left out', ['start', '--debug'], []],
  ['flags by their beginning', ['start', '--helm-hist'], ['--helm-history-max']],
  ['commands behind flags that name a cluster', ['--context', 'prod', '-n', 'infra', 'modu'], ['module']],
  ['nothing where a path follows', ['start', '--modules-dir', ''], []],
];

test.for(CASES)('offers %s', async ([, words, expected]) => {
  const responses = (await run('__complete', '--', ...words)).split('\n').filter((line) => line !== '');
  expect(responses).toEqual(expected);
});

test('hidden commands are not offered', async () => {
  const responses = await run('__complete', '--', '');
  expect(responses).toContain('start\n');
  expect(responses).not.toContain('__complete');
  expect(responses).not.toContain('debug-options');
});

// The first start of bin/addon-operator in a checkout compiles the sources.
test('bash completes by the script', { timeout: 120_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'completion-'));
  try {
    await symlink(join(import.meta.dirname, '../../bin/addon-operator'), join(directory, 'addon-operator'));
    await writeFile(join(directory, 'script'), await run('completion', 'bash'));
    const { stdout } = await execa(
      'bash',
      [
        '-c',
        `source ./script; COMP_WORDS=(addon-operator queue l); COMP_CWORD=2; _addon_operator; echo "\${COMPREPLY[@]}"`,
      ],
      { cwd: directory, env: { PATH: `${directory}:${process.env['PATH'] ?? ''}` } },
    );
    expect(stdout).toBe('list');
  } finally {
    await rm(directory, { recursive: true });
  }
});
