import { describe, expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

/** A script with one in-process hook. */
function script(config: string, body: string): string {
  return `import { defineHook } from 'addon-operator/sdk';
export default defineHook(${config}, async (input) => {
${body}
});
`;
}

/** Says what it is run for, as an announcer in `sh` does. */
function announcingScript(name: string, config: string): string {
  return script(config, `for (const { binding } of input.contexts) console.log('${name}', binding);`);
}

async function hookMetrics(world: World): Promise<string> {
  return (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`)).text();
}

/** Hooks that are scripts in threads: they do and get what executables do and get. */
describeLifecycle((backend) => {
  describe('an in-process hook', () => {
    test('gets the binding contexts of events and snapshots that an executable gets', async () => {
      await using world = await World.create(backend(), {});
      const yaml = `kubernetes:
- name: maps
  apiVersion: v1
  kind: ConfigMap
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  nameSelector: {matchNames: [one]}
  jqFilter: .data
  keepFullObjectsInMemory: false
  includeSnapshotsFrom: [maps]`;
      const typed = `{ kubernetes: [{ name: 'maps', apiVersion: 'v1', kind: 'ConfigMap', jqFilter: '.data',
        namespace: { nameSelector: { matchNames: ['${world.namespace}'] } }, nameSelector: { matchNames: ['one'] },
        keepFullObjectsInMemory: false, includeSnapshotsFrom: ['maps'] }] }`;
      await world.write('global-hooks', {
        'a.sh': shHook(yaml, 'echo "$(cat "$BINDING_CONTEXT_PATH")"'),
        'b.ts': script(typed, 'console.log(JSON.stringify(input.contexts));'),
      });
      await world.converge();
      await world.create('configmaps', {
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        data: { a: '1' },
      } as never);
      await world.log.until(() => world.log.printed.length === 4);
      await world.merge('configmaps', 'one', { data: { a: '2' } });
      await world.log.until(() => world.log.printed.length === 6);
      const of = (hook: string) =>
        world.log.records
          .filter((record) => record['output'] === 'stdout' && record['hook'] === hook)
          .map((record) => JSON.parse(String(record['msg'])) as unknown);
      expect(of('b.ts')).toEqual(of('a.sh'));
      expect(of('b.ts')[2]).toEqual([
        {
          binding: 'maps',
          type: 'Event',
          watchEvent: 'Modified',
          filterResult: { a: '2' },
          snapshots: { maps: [{ filterResult: { a: '2' } }] },
        },
      ]);
    });
  });
});

describeApiIndependent((backend) => {
  describe('an in-process hook', () => {
    test('runs in its order among executables, global and of modules, in any of the four kinds of files', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.sh': announcer('a.sh', { onStartup: 3, afterAll: 2 }),
          'b.ts': announcingScript('b.ts', '{ onStartup: 1, afterAll: 3 }'),
          'deep/c.mjs': announcingScript('c.mjs', '{ onStartup: 2, afterAll: 1 }'),
        },
        modules: {
          'values.yaml': 'webEnabled: true\n',
          '001-web/hooks/a.js': announcingScript('a.js', '{ onStartup: 1, beforeHelm: 2, afterHelm: 1 }'),
          '001-web/hooks/b.sh': announcer('b.sh', { beforeHelm: 1 }),
          '001-web/hooks/c/c.mts': announcingScript('c.mts', '{ beforeHelm: 3 }'),
          ...under('001-web', configMapChart('web', 'web')),
        },
      });
      await world.converge();
      expect(world.log.printed).toEqual([
        'b.ts onStartup',
        'c.mjs onStartup',
        'a.sh onStartup',
        'a.js onStartup',
        'b.sh beforeHelm',
        'a.js beforeHelm',
        'c.mts beforeHelm',
        'a.js afterHelm',
        'c.mjs afterAll',
        'a.sh afterAll',
        'b.ts afterAll',
      ]);
      expect(world.log.records).toContainEqual(
        expect.objectContaining({ msg: 'a.js beforeHelm', hook: 'hooks/a.js', module: 'web', queue: 'main' }),
      );
    });

    test('sees values and config values, and its changes are applied as those of files are', async () => {
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': 'webEnabled: true\nweb: { replicas: 1 }\n',
          '001-web/hooks/a.ts': script(
            '{ beforeHelm: 1 }',
            `console.log(JSON.stringify(input.values.data), JSON.stringify(input.configValues.data));
  input.values.set('web.memory', [input.values.get('web.replicas')]);
  input.configValues.set('web.saved', { by: 'hook' });
  input.metrics.set('script_wrote', 2, { a: 'b' });
  const metadata = { name: 'made', namespace: process.env.NAMESPACE };
  input.kubernetes.createOrUpdate({ apiVersion: 'v1', kind: 'ConfigMap', metadata });`,
          ),
          '001-web/hooks/b.sh': shHook('beforeHelm: 2', 'echo "sh: $(cat "$VALUES_PATH")"'),
          ...under('001-web', configMapChart('web', 'web')),
        },
        config: { web: 'replicas: 2\n' },
      });
      await world.converge();
      const values = { global: { enabledModules: ['web'] }, web: { replicas: 2 } };
      const [first = '', second = ''] = world.log.printed;
      expect(first).toBe(`${JSON.stringify(values)} {"global":null,"web":{"replicas":2}}`);
      expect(JSON.parse(second.replace(/^sh: /, ''))).toEqual({
        ...values,
        web: { replicas: 2, memory: [2], saved: { by: 'hook' } },
      });
      expect(await hookMetrics(world)).toContain('script_wrote{a="b",hook="hooks/a.ts",module="web"} 2');
      expect(await world.get('configmaps', 'made')).toBeDefined();
      expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
        data: { web: 'replicas: 2\nsaved:\n    by: hook\n' },
      });
    });

    test.each([
      ['throws', "throw new Error('no luck');", /failed: Error: no luck \(at .*a\.ts:\d+:\d+\)$/],
      ['calls process.exit', 'process.exit(0);', /failed: it called process\.exit\(0\)$/],
      ['patches what is not its own', "input.values.set('other.x', 1);", /only 'web' accepted/],
      ['writes a bad metric', "input.metrics.set('not a name', 1);", /is not a metric name/],
      ['wants an unknown object', "input.kubernetes.delete({ kind: '', name: 'x' });", /kubernetes patch/],
      ['returns something', 'return input.values as never;', /the handler returned a value \(object\)/],
    ])('that %s fails as a whole, is retried, and the daemon continues', async (_case, body, expected) => {
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': 'webEnabled: true\n',
          '001-web/hooks/a.ts': script(
            '{ beforeHelm: 1 }',
            `input.metrics.set('good', 1); input.values.set('web.good', 1);
  const { existsSync } = await import('node:fs');
  if (!existsSync(process.env.WORLD + '/mended')) { ${body} }
  else console.log('mended');`,
          ),
        },
      });
      await world.start();
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(expected);
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain("module hook 'hooks/a.ts'");
      expect(await hookMetrics(world)).not.toContain('good');
      await world.write('modules', { '../mended': '' });
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(world.log.printed).toEqual(['mended']);
      expect(await hookMetrics(world)).toContain('good');
    });

    test('in an endless loop is stopped at its limit while others run, and an allowed failure is dropped', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'loop.ts': script(
            "{ schedule: [{ crontab: '*/5 * * * * *', queue: 'side', allowFailure: true }], settings: { timeout: '7s' } }",
            "console.log('loops'); for (;;);",
          ),
          'other.ts': script("{ schedule: [{ crontab: '*/5 * * * * *' }] }", "console.log('other');"),
        },
      });
      await world.converge();
      world.clock.jump(5_000);
      await world.log.untilPrinted('loops');
      await world.log.untilPrinted('other');
      await world.clock.passSleep(7_000);
      await world.log.untilMessage('hook failed, but the failure is allowed');
      const failed = world.log.records.find(({ msg }) => msg === 'hook failed, but the failure is allowed');
      expect(failed).toMatchObject({
        hook: 'loop.ts',
        error: "global hook 'loop.ts' was stopped: it ran longer than its limit of 7 s",
      });
      world.clock.jump(5_000);
      await world.log.untilPrinted('loops', 2);
    });

    test('that cannot be loaded fails the start, and the message names the file and the reason', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'bad.ts': script('{ onStartup: 1 }', '') + "\nthrow new Error('broken at load');\n" },
      });
      await expect(world.start()).rejects.toThrow(
        /cannot load hook '.*bad\.ts': Error: broken at load \(at .*bad\.ts:6:7\)/,
      );
    });

    test('that changes on disk is loaded again without a restart, with its imports', async () => {
      await using world = await World.create(backend(), {
        flags: { 'watch-files': 'true' },
        globalHooks: {
          'a.ts': `import { word } from './lib/word.ts';\n${script('{ onStartup: 1, afterAll: 1 }', "console.log(word, 'first');")}`,
          'lib/word.ts': "export const word: string = 'old';\n",
        },
      });
      await world.converge();
      expect(world.log.printed).toEqual(['old first', 'old first']);
      await world.log.untilMessage('watching files for changes');
      await world.write('global-hooks', { 'lib/word.ts': "export const word: string = 'new';\n" });
      await world.log.untilPrinted('new first');
      await world.write('global-hooks', {
        'a.ts': script('{ onStartup: 1, afterAll: 2 }', "console.log('second');"),
      });
      await world.log.untilPrinted('second');
      // Said also by a run of the old order that finds the new file, before that is loaded.
      await world.log.until(
        () => world.daemon.operator.globalHooks.runtimes[0]?.hook.config.lifecycle.afterAll === 2,
      );
    });
  });
});
