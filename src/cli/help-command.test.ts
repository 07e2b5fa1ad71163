import { expect, test } from 'vitest';
import { cliRun as run } from '../../test/support/cli-run.ts';

test('help lists the commands by groups, in at most 44 lines', async () => {
  const { exitCode, stdout } = await run('--help');
  expect(exitCode).toBe(0);
  const words = 'Run start sandbox Look explain module queue Change pause Other raw'.split(' ');
  const places = words.map((word) => stdout.search(new RegExp(`^ *${word}\\b`, 'm')));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(44);
  expect(stdout).not.toContain('--helm-timeout');
});

test('help flags lists all flags of start that are not for debugging', async () => {
  const { exitCode, stdout } = await run('help flags');
  expect(exitCode).toBe(0);
  for (const flag of ['--helm-timeout <duration>', '--kube-client-qps <number>'])
    expect(stdout).toContain(flag);
  expect(stdout).toContain('ADDON_OPERATOR_MODULES_DIR, MODULES_DIR; default modules');
  expect(stdout).not.toContain('debug-unix-socket');
  expect((await run('debug-options')).stdout).toContain('--debug-unix-socket');
});

test.each([
  [
    'start',
    ['--modules-dir', '--namespace', '--kube-context', '--drift-mode', '--ui-actions', '--log-level'],
    [],
  ],
  ['sandbox', ['--reset', '--modules-dir', '--ui', '--log-level'], ['--kube-context']],
  ['plan', ['--modules-dir', '--kube-context'], ['--ui', '--hook-timeout']],
  ['dev', ['--force', '--kube-context', '--hook-timeout'], ['--ui ']],
])('%s --help lists the main flags by groups, and leads to the others', async (command, shown, hidden) => {
  const { stdout } = await run(`${command} --help`);
  const flags = stdout.match(/^ +(?:-\w, )?--[a-z-]+/gm) ?? [];
  expect(flags.length).toBeLessThanOrEqual(26);
  for (const flag of shown) expect(stdout).toContain(`  ${flag}`);
  for (const flag of [...hidden, '--kube-client-qps']) expect(stdout).not.toContain(`  ${flag}`);
  expect(stdout).toMatch(/^Modules and hooks:$[^]*^Cluster:$[^]*help flags\n$/m);
});

test('help takes a command', async () => {
  expect((await run('help queue')).stdout).toMatch(/^Usage: addon-operator queue [^]*main [^]*list\|show /);
  expect((await run('help queue list')).stdout).toMatch(/^Usage: addon-operator queue list\|show /);
  expect(await run('help queue lst')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`unknown command 'lst' (did you mean "list"?)`) as string,
  });
});
