import { expect, test } from 'vitest';
import { cliRun as run } from '../../test/support/cli-run.ts';

test('help lists the commands by groups, in at most 42 lines', async () => {
  const { exitCode, stdout } = await run('--help');
  expect(exitCode).toBe(0);
  const words = 'Run start sandbox Look explain module queue Change pause Other raw'.split(' ');
  const places = words.map((word) => stdout.search(new RegExp(`^ *${word}\\b`, 'm')));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(42);
  expect(stdout).not.toContain('--helm-timeout');
});

test.each(['start --help', 'help start', 'help flags'])(
  '"%s" lists the flags that are not hidden',
  async (args) => {
    const { exitCode, stdout } = await run(args);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('--helm-timeout <duration>');
    expect(stdout).toContain('ADDON_OPERATOR_MODULES_DIR, MODULES_DIR; default modules');
    expect(stdout).not.toContain('debug-unix-socket');
    expect((await run('debug-options')).stdout).toContain('--debug-unix-socket');
  },
);

test('help takes a command', async () => {
  expect((await run('help queue')).stdout).toMatch(/^Usage: addon-operator queue [^]*main [^]*list\|show /);
  expect((await run('help queue list')).stdout).toMatch(/^Usage: addon-operator queue list\|show /);
  expect(await run('help queue lst')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`unknown command 'lst' (did you mean "list"?)`) as string,
  });
});
