import { expect, test, vi } from 'vitest';
import { LOOK_INTERVAL_MS } from '../../src/reconcile/directory-looks.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import type { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const ISOLATE = { 'module-failure-policy': 'isolate' };

/** Modules with a chart and a hook each, in this order. */
function modules(names: readonly string[]): FileTree {
  return Object.fromEntries(
    names.flatMap((name, index) =>
      Object.entries(
        under(`00${index + 1}-${name}`, {
          ...configMapChart(name, name),
          'values.yaml': `${name}Enabled: true\n`,
          'hooks/hook.sh': announcer(name, { onStartup: 1, afterDeleteHelm: 1 }),
        }),
      ),
    ),
  );
}

const INVALID = expect.arrayContaining([
  expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'ModuleInvalid' }),
  expect.objectContaining({ type: 'Ready', status: 'False', reason: 'ModuleInvalid' }),
]);

async function expectDeployed(world: World, names: readonly string[]): Promise<void> {
  for (const name of names) expect(await world.get('configmaps', name)).toHaveProperty('data');
  expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
}

const configHook = (script: string) => `#!/bin/sh\nif [ "$1" = --config ]; then ${script}; fi\n`;

const BAD_HOOKS: Readonly<Record<string, readonly [hook: string, text: string]>> = {
  'a --config that fails': [configHook('echo "no such luck" >&2; exit 3'), 'no such luck'],
  'no YAML': [configHook('echo "a: [b"'), '--config invalid'],
  'no mapping': [configHook('echo "hello there"'), '--config invalid'],
  'an unknown key': [shHook('configVersion: v1\nonStart: 1', 'true'), 'onStart'],
};

describeLifecycle((backend) => {
  test('with isolate a hook with an invalid configuration holds up its module alone, until it is corrected', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName()] as const;
    const [a, b, c] = names;
    await using made = await moduleWorld(backend(), { modules: modules(names), flags: ISOLATE }, names);
    const { world } = made;
    await world.converge();
    for (const [kind, [hook, text]] of Object.entries(BAD_HOOKS)) {
      await world.stop();
      await world.write('modules', { [`002-${b}/hooks/bad.sh`]: hook });
      await world.converge();
      for (const name of [a, c]) await untilStatus(world, name, { phase: 'Succeeded' });
      await untilStatus(world, b, { conditions: INVALID, phase: 'Failed' });
      const { exitCode, stdout } = await runInWorld(world, 'status');
      expect({ kind, exitCode, stdout }).toMatchObject({
        exitCode: 1,
        stdout: expect.stringContaining(text),
      });
      await expectDeployed(world, names);
      await world.write('modules', { [`002-${b}/hooks/bad.sh`]: shHook('beforeHelm: 1', 'true') });
      await world.passDelay(`isolated_${b}`);
      await untilStatus(world, b, { phase: 'Succeeded' });
    }
  });

  test('with isolate modules that require each other in a cycle are held with those that require them, and no others', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName(), uniqueName()] as const;
    const [a, b, c, d] = names;
    await using made = await moduleWorld(backend(), { modules: modules(names), flags: ISOLATE }, names);
    const { world } = made;
    await world.converge();
    const requiring = (place: string, other: string) =>
      world.write('modules', { [`${place}/module.yaml`]: `requires: [{name: ${other}}]\n` });
    await world.stop();
    await requiring(`001-${a}`, b);
    await requiring(`002-${b}`, a);
    await requiring(`003-${c}`, b);
    await world.converge();
    await untilStatus(world, d, { phase: 'Succeeded' });
    for (const name of [a, b, c]) await untilStatus(world, name, { conditions: INVALID, phase: 'Failed' });
    const { exitCode, stdout } = await runInWorld(world, 'status');
    expect(exitCode).toBe(1);
    for (const name of [a, b, c])
      expect(stdout).toContain(
        `module ${name} is held: modules require each other in a cycle: ${a} -> ${b} -> ${a};`,
      );
    expect(stdout).not.toContain(`module ${d}`);
    await expectDeployed(world, names);
    await world.write('modules', { [`001-${a}/module.yaml`]: '# requires nothing\n' });
    await vi.waitFor(async () => {
      world.clock.wakeSleeps(LOOK_INTERVAL_MS);
      expect((await runInWorld(world, 'status')).stdout).toContain('all is well: 4 modules ready');
    }, WAIT);
    for (const name of names) await untilStatus(world, name, { phase: 'Succeeded' });
    await expectDeployed(world, names);
  });
});

describeLifecycle((backend) => {
  test('with isolate a new module whose values.yaml cannot be read is named with its file, until it is corrected', async () => {
    const names = [uniqueName(), uniqueName()] as const;
    const [bad, good] = names;
    await using made = await moduleWorld(backend(), { modules: modules(names), flags: ISOLATE }, names);
    const { world } = made;
    await world.write('modules', { [`001-${bad}/values.yaml`]: `${bad}Enabled: [` });
    await world.converge();
    await untilStatus(world, good, { phase: 'Succeeded' });
    await untilStatus(world, bad, { conditions: INVALID });
    const { exitCode, stdout } = await runInWorld(world, 'status');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 1,
      stdout: expect.stringMatching(new RegExp(`module ${bad} is held: .*001-${bad}/values\\.yaml`)),
    });
    await world.write('modules', { [`001-${bad}/values.yaml`]: `${bad}Enabled: true\n` });
    await vi.waitFor(async () => {
      world.clock.wakeSleeps(LOOK_INTERVAL_MS);
      expect(await world.get('configmaps', bad)).toHaveProperty('data');
    }, WAIT);
  });
});
