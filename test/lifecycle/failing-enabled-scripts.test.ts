import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import type { Backend, World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, configMapChart, type FileTree, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const RETRY_MS = 30_000;
const ISOLATE = { 'module-failure-policy': 'isolate', 'hook-timeout': '3s' };
const SCRIPT = (module: string) => `#!/bin/sh\n. "$WORLD/${module}-decides"\n`;
const SAYS = (answer: string) => `echo ${answer} > "$MODULE_ENABLED_RESULT"\n`;

/** Content of the script that fails, with what is said about it. */
const FAILURES: Readonly<Record<string, readonly [script: string, text: string]>> = {
  'an exit code': [
    'echo looking >&2; echo "no route to vault" >&2; exit 3',
    'exit code 3: no route to vault',
  ],
  rubbish: [SAYS('perhaps'), "expected 'true' or 'false', got 'perhaps'"],
  'no result': ['true', "expected 'true' or 'false', got ''"],
  'a signal': ['kill -KILL $$', 'killed by SIGKILL'],
  'no end': ['exec sleep 300', 'it ran longer than its limit of 3 s'],
};

/** Three modules with charts and hooks; that of `b` decides by script, and `c` does so by whether `b` is enabled. */
function modules([a, b, c]: readonly [string, string, string]): FileTree {
  return Object.fromEntries(
    [a, b, c].flatMap((name, index) =>
      Object.entries(
        under(`00${index + 1}-${name}`, {
          ...configMapChart(name, name),
          'values.yaml': `${name}Enabled: true\n`,
          'hooks/hook.sh': announcer(name, { onStartup: 1, beforeDeleteHelm: 1, afterDeleteHelm: 1 }),
          ...(name !== a && { enabled: SCRIPT(name) }),
        }),
      ),
    ),
  );
}

const SEES_B = (b: string) =>
  `if jq -e '.global.enabledModules | index("${b}")' "$VALUES_PATH" >/dev/null; then ${SAYS('true')}else ${SAYS('false')}fi\n`;

async function scriptedWorld(
  backend: Backend,
  names: readonly [string, string, string],
  flags: Readonly<Record<string, string>> = ISOLATE,
) {
  const made = await moduleWorld(backend, { modules: modules(names), flags, config: {} }, names);
  const [, b, c] = names;
  await decides(made.world, b, SAYS('true'));
  await decides(made.world, c, SEES_B(b));
  return made;
}

async function decides(world: World, module: string, script: string): Promise<void> {
  await world.write('modules', { [`../${module}-decides`]: script });
}

/** Lets delays pass until it is so. While a script runs no time passes, which would end it by its limit. */
async function untilRetried(world: World, done: () => Promise<void>): Promise<void> {
  await vi.waitFor(async () => {
    if (world.daemon.operator.router.failedScripts.dueMs !== undefined) world.clock.jump(RETRY_MS);
    await done();
  }, WAIT);
}

async function expectHeld(world: World, name: string, text: string): Promise<void> {
  const { exitCode, stdout } = await runInWorld(world, 'status');
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`module ${name} is held (next try at `);
  const refused = `module ${name} is held, see "explain module ${name}" for the reason\nCode: REQUEST_REFUSED`;
  const { stderr } = await runInWorld(world, 'module', 'reconcile', name);
  expect(stderr).toContain(refused);
  expect(stdout).toMatch(
    new RegExp(`since \\d{4}-\\S+Z its enabled script \\S*/002-${name}/enabled failed: `),
  );
  expect(stdout).toContain(text);
  expect(stdout).toContain(`/002-${name}/enabled, it is retried`);
}

const STALLED = expect.arrayContaining([
  expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'EnabledScriptFailed' }),
  expect.objectContaining({ type: 'Ready', status: 'False', reason: 'EnabledScriptFailed' }),
]);

describeLifecycle((backend) => {
  test('a script that fails at a start holds its module alone, which is taken up when the script succeeds', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName()] as const;
    const [a, b, c] = names;
    await using made = await scriptedWorld(backend(), names);
    const { world } = made;
    await world.converge();
    for (const [kind, [script, text]] of Object.entries(FAILURES)) {
      await world.stop();
      const starts = startsOf(world, b);
      await decides(world, b, script);
      await world.converge();
      await expectHeld(world, b, text);
      await untilStatus(world, b, { conditions: STALLED, phase: 'Failed' });
      for (const name of [a, c]) await untilStatus(world, name, { phase: 'Succeeded' });
      for (const name of names)
        expect({ kind, object: await world.get('configmaps', name) }).toHaveProperty('object.data');
      expect(startsOf(world, b)).toBe(starts);
      await decides(world, b, SAYS('true'));
      await untilRetried(world, () => untilWell(world));
      await untilStatus(world, b, { phase: 'Succeeded' });
    }
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });

  test('a script that fails while its module runs keeps it as it is, and what it decides at last is done', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName()] as const;
    const [a, b, c] = names;
    await using made = await scriptedWorld(backend(), names);
    const { world } = made;
    await world.converge();
    await decides(world, b, 'echo "no route to vault" >&2; exit 3');
    await world.putConfig({ global: 'x: 1\n', [`${a}Enabled`]: 'false' });
    await world.log.untilPrinted(`${a} afterDeleteHelm`);
    await untilStatus(world, b, { conditions: STALLED, phase: 'Failed' });
    await expectHeld(world, b, 'its hooks go on');
    for (const name of [b, c]) expect(await world.get('configmaps', name)).toBeDefined();
    await untilStatus(world, c, { phase: 'Succeeded' });
    await decides(world, b, SAYS('false'));
    await untilRetried(world, async () => {
      expect(world.log.printed).toContain(`${b} afterDeleteHelm`);
      expect(await world.get('configmaps', b)).toBeUndefined();
      expect(await world.get('configmaps', c)).toBeUndefined();
      await untilWell(world);
    });
  });
});

function startsOf(world: World, module: string): number {
  return world.log.printed.filter((line) => line === `${module} onStartup`).length;
}

async function untilWell(world: World): Promise<void> {
  const { exitCode, stdout } = await runInWorld(world, 'status');
  expect(stdout).toContain('all is well');
  expect(exitCode).toBe(0);
}

describeApiIndependent((backend) => {
  test('a module that was not enabled before does not start while its script fails, and counts as disabled', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName()] as const;
    const [, b, c] = names;
    await using made = await scriptedWorld(backend(), names);
    const { world } = made;
    await decides(world, b, 'exit 1');
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual([names[0]]);
    for (const name of [b, c]) expect(await world.get('configmaps', name)).toBeUndefined();
    const explained = await runInWorld(world, 'explain', 'module', b);
    expect(explained.stdout).toMatch(/held up by .*its enabled script .*failed: cmd run: exit status 1/);
    await decides(world, b, SAYS('true'));
    await untilRetried(world, () => untilWell(world));
    for (const name of names) expect(await world.get('configmaps', name)).toBeDefined();
  });

  test('a script whose interpreter is gone, or that may not be executed any more, holds its module alone', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName()] as const;
    const [, b] = names;
    await using made = await scriptedWorld(backend(), names);
    const { world } = made;
    await world.converge();
    await chmod(join(world.directory, 'modules', `002-${b}`, 'enabled'), 0o644);
    world.daemon.operator.router.queueConverge('ReloadAllModules', 'test');
    await vi.waitFor(() => expectHeld(world, b, 'permission denied'), WAIT);
    await world.write('modules', { [`002-${b}/enabled`]: '#!/no/such/interpreter\n' });
    await untilRetried(world, () => expectHeld(world, b, 'enabled'));
    await world.write('modules', { [`002-${b}/enabled`]: SCRIPT(b) });
    await untilRetried(world, () => untilWell(world));
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });

  test('with the policy block a failing script goes on to hold up all modules', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName()] as const;
    await using made = await scriptedWorld(backend(), names, {});
    const { world } = made;
    await decides(world, names[1], 'exit 1');
    await world.start();
    await world.untilDelayed();
    const { stdout } = await runInWorld(world, 'status');
    expect(stdout).toContain('no module is enabled, disabled or run until it succeeds');
    expect(await world.get('configmaps', names[0])).toBeUndefined();
  });
});
