import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const CONFIG = `onStartup: 1
kubernetes:
- {name: maps, kind: ConfigMap, apiVersion: v1, queue: maps, nameSelector: {matchNames: [trigger-a, trigger-b]}}
schedule:
- {name: yearly, crontab: '0 0 1 1 *', queue: clock}`;
const BODY = `cat "$BINDING_CONTEXT_PATH" >> "$WORLD/contexts"; echo >> "$WORLD/contexts"`;

interface Context {
  readonly binding: string;
  readonly type?: string;
  readonly objects?: readonly unknown[];
  readonly object?: { readonly metadata: { readonly name: string } };
}

async function runsIn(world: World): Promise<readonly (readonly Context[])[]> {
  const text = await readFile(join(world.directory, 'contexts'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as readonly Context[]);
}

describeApiIndependent((backend) => {
  describe('hook trigger', () => {
    test('runs a hook once for each kind of binding, in its own queue, and refuses what it has not', async () => {
      await using world = await World.create(backend(), { globalHooks: { 'look.sh': shHook(CONFIG, BODY) } });
      await world.create('configmaps', { metadata: { name: 'trigger-a' } });
      await world.create('configmaps', { metadata: { name: 'trigger-b' } });
      await world.converge();
      const trigger = (...args: readonly string[]) =>
        runInWorld(world, 'hook', 'trigger', 'look.sh', ...args);
      const runs: (readonly Context[])[] = [];
      const next = async (): Promise<readonly Context[]> => {
        const all = await vi.waitFor(async () => {
          const known = await runsIn(world);
          expect(known.length).toBe(runs.length + 1);
          return known;
        }, WAIT);
        runs.push(all.at(-1) ?? []);
        return runs.at(-1) ?? [];
      };
      await vi.waitFor(async () => expect(await runsIn(world)).toHaveLength(2), WAIT);
      runs.push(...(await runsIn(world)));

      expect(await trigger('yearly')).toEqual({
        exitCode: 0,
        stdout: 'hook look.sh runs for yearly in queue clock\n',
        stderr: '',
      });
      expect(await next()).toMatchObject([{ binding: 'yearly', type: 'Schedule' }]);
      expect(await trigger('maps')).toMatchObject({ exitCode: 0 });
      expect(await next()).toMatchObject([{ binding: 'maps', type: 'Synchronization', objects: [{}, {}] }]);
      const object = `configmap/${world.flags['namespace']}/trigger-b`;
      expect(await trigger('maps', '--object', object)).toMatchObject({ exitCode: 0, stderr: '' });
      expect(await next()).toMatchObject([
        {
          binding: 'maps',
          type: 'Event',
          watchEvent: 'Modified',
          object: { metadata: { name: 'trigger-b' } },
        },
      ]);
      expect(await trigger('onStartup')).toMatchObject({ exitCode: 0 });
      expect(await next()).toEqual([{ binding: 'onStartup' }]);

      const refused = await trigger('weekly');
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
      expect(refused.stderr).toContain('it has onStartup, maps, yearly');
      expect(await trigger('maps', '--object', 'ConfigMap/x')).toMatchObject({ exitCode: 1 });
      expect(await runsIn(world)).toHaveLength(runs.length);
    });
  });
});
