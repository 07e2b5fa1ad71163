import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cliRun } from '../support/cli-run.ts';
import { configMapBinding, contextHook, contextsOf, untilRuns, watchedMap } from '../support/context-hook.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const BURST = 2_000;
const WRITERS = 20;
/** An API server on a busy machine takes 40 ms and more for a write. */
const BURST_LIMIT_MS = 300_000;

/** A hook in queue `q` that runs for each new ConfigMap with the label. */
function onNewMap(namespace: string, label: string, body: string): string {
  const fields = { queue: 'q', executeHookOnSynchronization: false, jqFilter: '.metadata.name' };
  return contextHook({ kubernetes: [configMapBinding(namespace, label, fields)] }, body);
}

/** Counts contexts and remembers the last state of each object; prints one line a run. */
const COUNTING = `
const contexts = JSON.parse(require("fs").readFileSync(process.env.BINDING_CONTEXT_PATH, "utf8"));
const last = {};
for (const { object } of contexts) last[object.metadata.name] = Number(object.data.n);
console.log("counted " + JSON.stringify({ contexts: contexts.length, last }));`;

async function runDirectories(world: World): Promise<string[]> {
  const names = await readdir(join(world.directory, 'tmp'));
  return names.filter((name) => name.startsWith('run-'));
}

async function lastError(world: World, queue = 'main'): Promise<string | undefined> {
  await world.untilDelayed(queue);
  return world.daemon.operator.queues.get(queue).entries[0]?.lastError;
}

/** How hooks are run; corner cases 24 to 31 of the hook contract, and bad input. */
describeLifecycle((backend) => {
  describe('a hook process', () => {
    test('fails when an operation fails; the later operations are executed, metrics too, and a retry sends all again', async () => {
      await using world = await World.create(backend(), {});
      await world.write('global-hooks', {
        'a.sh': shHook(
          'onStartup: 1',
          `echo '{"name":"written","set":1}' > "$METRICS_PATH"
cat > "$KUBERNETES_PATCH_PATH" <<OPERATIONS
operation: MergePatch
kind: cm
namespace: ${world.namespace}
name: missing
mergePatch: {data: {a: "1"}}
---
operation: CreateIfNotExists
object: {apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: ${world.namespace}}}
OPERATIONS
echo '{"op":"add","path":"/global/reached","value":1}' > "$VALUES_JSON_PATCH_PATH"`,
        ),
      });
      await world.start();
      expect(await lastError(world)).toMatch(
        new RegExp(`^global hook 'a\\.sh': .*operation 1: Filter object cm/${world.namespace}/missing: `),
      );
      expect(await world.get('configmaps', 'made')).toBeDefined();
      const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
      expect(await metrics.text()).toContain('written{hook="a.sh"} 1');
      expect(world.daemon.built.configuration.values.globalValues()).toEqual({});
      await world.create('configmaps', { metadata: { name: 'missing' } });
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(await world.get('configmaps', 'missing')).toMatchObject({ data: { a: '1' } });
      expect(world.daemon.built.configuration.values.globalValues()).toEqual({ reached: 1 });
    });

    test('may use keys of prototypes in values, objects and patches: they stay data', async () => {
      await using world = await World.create(backend(), {});
      const data = '{"__proto__":"a","constructor":"b","hasOwnProperty":"c"}';
      await world.write('global-hooks', {
        'a.sh': shHook(
          'onStartup: 1',
          `echo '{"op":"add","path":"/global/__proto__","value":{"constructor":{"prototype":{"polluted":1}}}}' > "$VALUES_JSON_PATCH_PATH"
echo '{"operation":"Create","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd","namespace":"${world.namespace}","labels":{"watched":"item"}},"data":${data}}}' > "$KUBERNETES_PATCH_PATH"`,
        ),
        'b.sh': contextHook(
          { onStartup: 2, kubernetes: [configMapBinding(world.namespace, 'item', { jqFilter: '.data' })] },
          'echo "values $(cat "$VALUES_PATH")"',
        ),
      });
      await world.converge();
      expect(world.log.printed[0]).toBe(
        'values {"global":{"__proto__":{"constructor":{"prototype":{"polluted":1}}}}}',
      );
      const context = world.log.printed.at(-1) ?? '';
      expect(context).toContain(`"data":${data}`);
      expect(context).toContain(`"filterResult":${data}`);
      expect('polluted' in {}).toBe(false);
    });
  });
});

describeApiIndependent((backend) => {
  describe('a hook process', () => {
    test(
      'gets a burst of 2,000 events in few runs, in order, and misses none',
      async () => {
        await using world = await World.create(backend(), {});
        const fields = { queue: 'q', executeHookOnSynchronization: false };
        const config = JSON.stringify([configMapBinding(world.namespace, 'item', fields)]);
        await world.write('global-hooks', {
          'count.sh': shHook(`kubernetes: ${config}`, `exec '${process.execPath}' -e '${COUNTING}'`),
        });
        await world.converge();
        const writer = async (name: string): Promise<void> => {
          await world.create('configmaps', watchedMap(name, 'item', { n: '1' }));
          for (let n = 2; n <= BURST / WRITERS; n += 1)
            await world.merge('configmaps', name, { data: { n: String(n) } });
        };
        const writers = Array.from({ length: WRITERS }, (_, index) => `w${index}`);
        await Promise.all(writers.map(writer));
        const runs = () =>
          world.log.printed.map(
            (line) =>
              JSON.parse(line.slice('counted '.length)) as {
                readonly contexts: number;
                readonly last: Readonly<Record<string, number>>;
              },
          );
        const counted = () => runs().reduce((sum, { contexts }) => sum + contexts, 0);
        await world.log.until(() => counted() >= BURST);
        await world.daemon.operator.queues.get('q').untilEmpty();
        expect(counted()).toBe(BURST);
        expect(Object.assign({}, ...runs().map(({ last }) => last))).toEqual(
          Object.fromEntries(writers.map((name) => [name, BURST / WRITERS])),
        );
      },
      BURST_LIMIT_MS,
    );

    test('has no arguments and no input, the working directory of the daemon, and a file for every variable', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'sub/a.sh': shHook(
            'onStartup: 1',
            `echo "$# $(pwd) '$(cat)'"
for name in BINDING_CONTEXT_PATH VALUES_PATH CONFIG_VALUES_PATH; do eval "echo $name $(wc -c < "$(eval echo \\$$name)")"; done
for name in CONFIG_VALUES_JSON_PATCH_PATH VALUES_JSON_PATCH_PATH METRICS_PATH KUBERNETES_PATCH_PATH \\
  CONVERSION_RESPONSE_PATH VALIDATING_RESPONSE_PATH ADMISSION_RESPONSE_PATH; do
  eval "echo $name $(wc -c < "$(eval echo \\$$name)")"
done
[ "$VALIDATING_RESPONSE_PATH" = "$ADMISSION_RESPONSE_PATH" ] && echo same`,
          ),
        },
      });
      await world.converge();
      expect(world.log.printed).toEqual([
        `0 ${world.directory} ''`,
        `BINDING_CONTEXT_PATH ${'[{"binding":"onStartup"}]'.length}`,
        `VALUES_PATH ${'{"global":{}}'.length}`,
        `CONFIG_VALUES_PATH ${'{"global":null}'.length}`,
        'CONFIG_VALUES_JSON_PATCH_PATH 0',
        'VALUES_JSON_PATCH_PATH 0',
        'METRICS_PATH 0',
        'KUBERNETES_PATCH_PATH 0',
        'CONVERSION_RESPONSE_PATH 0',
        'VALIDATING_RESPONSE_PATH 0',
        'ADMISSION_RESPONSE_PATH 0',
        'same',
      ]);
    });

    test.each([
      ['gone', 'false', 0],
      ['kept for debugging', 'true', 2],
    ])('has files that are %s after a failed and a successful run', async (_what, keeps, count) => {
      await using world = await World.create(backend(), {
        env: { DEBUG_KEEP_TMP_FILES: keeps },
        globalHooks: {
          'a.sh': shHook('onStartup: 1', '[ -e "$WORLD/again" ] && exit; : > "$WORLD/again"; exit 1'),
        },
      });
      await world.start();
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(await runDirectories(world)).toHaveLength(count);
    });

    test('that failed is reported with its stderr, or with its exit status if that is empty', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': shHook('onStartup: 1', 'cat "$WORLD/say" >&2; exit 1') },
        modules: { '../say': 'no such luck\n' },
      });
      await world.start();
      expect(await lastError(world)).toBe("global hook 'a.sh' failed: no such luck");
      await world.write('modules', { '../say': '' });
      await world.passDelay();
      await world.log.untilMessage('attempt failed, will retry', 2);
      expect(await lastError(world)).toBe("global hook 'a.sh' failed: cmd run: exit status 1");
    });

    test('that failed has its most telling line as headline, and its output keeps its indentation', async () => {
      const lines = ['Traceback (most recent call last):', '  main()', 'OSError: no disk', 'goodbye'];
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': shHook('onStartup: 1', `cat >&2 <<END\n${lines.join('\n')}\nEND\nexit 137`) },
      });
      await world.start();
      const headline =
        "global hook 'a.sh' failed: a program that it ran was killed by SIGKILL, perhaps out of memory (exit status 137): OSError: no disk";
      expect(await lastError(world)).toBe(`${headline}\n\n${lines.join('\n')}`);
      const { runs } = world.daemon.built.telemetry.journal.list({ hook: 'a.sh', limit: 1 });
      const { stdout } = await cliRun(
        `runs show ${runs[0]?.id ?? ''} -o table --debug-unix-socket ${join(world.directory, 'debug.socket')}`,
      );
      expect(stdout).toMatch(/^exit code +137\nbindings +onStartup\ncontexts +1\nCPU time +\d+ms\nmemory +/m);
      expect(stdout).toContain(
        `addon-operator hook run ${world.directory}/global-hooks/a.sh --binding onStartup`,
      );
      expect(stdout).toMatch(/^(output +)Traceback .*\n\1 {2}main\(\)\n/m);
    });

    test('prints JSON objects as records of their level, with proxying off', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': shHook('onStartup: 1', `echo '{"level":"error","msg":"m","a":1}'`) },
      });
      await world.converge();
      expect(world.log.records).toContainEqual(
        expect.objectContaining({ level: 'error', msg: 'm', hook_a: 1, hook: 'a.sh', output: 'stdout' }),
      );
    });

    test('may leave children that keep its output open, which delay nothing', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.sh': shHook(
            'onStartup: 1',
            'sleep 600 & echo "child"; setsid sleep 600 & echo "child of nobody"',
          ),
          'b.sh': shHook('onStartup: 2', 'echo next'),
        },
      });
      await world.converge();
      expect(world.log.printed).toEqual(['child', 'child of nobody', 'next']);
    });

    test('may start processes that leave its process group: they end with the run, and a warning and a metric name the hook', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.sh': shHook(
            'onStartup: 1',
            `mkfifo "$WORLD/there"
setsid sh -c 'echo > "$WORLD/there"; exec sleep 1000' > /dev/null 2>&1 &
read x < "$WORLD/there"`,
          ),
        },
      });
      await world.converge();
      const warnings = world.log.records.filter(({ level, processes }) => level === 'warn' && processes);
      expect(warnings).toMatchObject([{ hook: 'a.sh', count: 1, processes: [{ pid: expect.any(Number) }] }]);
      const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
      expect(await metrics.text()).toContain(
        'addon_operator_hook_escaped_processes_total{module="",hook="a.sh"} 1\n',
      );
    });

    test('may replace its own file, which is used from the next run on, and fails when it removed it', async () => {
      await using world = await World.create(backend(), {});
      const next = onNewMap(world.namespace, 'item', 'echo second; rm "$0"');
      await world.write('modules', { '../next': next });
      await world.write('global-hooks', {
        'a.sh': onNewMap(world.namespace, 'item', 'echo first; cp "$WORLD/next" "$0.new"; mv "$0.new" "$0"'),
      });
      await world.converge();
      await world.create('configmaps', watchedMap('one', 'item'));
      await untilRuns(world.log, 'a.sh', 1);
      await world.create('configmaps', watchedMap('two', 'item'));
      await untilRuns(world.log, 'a.sh', 2);
      expect(world.log.printed.filter((line) => !line.includes('['))).toEqual(['first', 'second']);
      await world.create('configmaps', watchedMap('three', 'item'));
      expect(await lastError(world, 'q')).toContain(join(world.directory, 'global-hooks/a.sh'));
      await world.write('global-hooks', { 'a.sh': onNewMap(world.namespace, 'item', 'echo mended') });
      await world.passDelay('q');
      await untilRuns(world.log, 'a.sh', 3);
      expect(contextsOf(world.log, 'a.sh').map(([context]) => context?.['filterResult'])).toEqual([
        'one',
        'two',
        'three',
      ]);
    });

    test('may write bytes that are not UTF-8: they are replaced, and files with them are reported', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.sh': shHook(
            'onStartup: 1',
            `printf 'gr\\374n\\n'; printf '{"name":"m","set":1,"labels":{"l":"\\374"}}' > "$METRICS_PATH"`,
          ),
        },
      });
      await world.converge();
      expect(world.log.printed).toEqual(['gr\u{FFFD}n']);
      const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
      expect(await metrics.text()).toContain('m{hook="a.sh",l="\u{FFFD}"} 1');
      expect(world.log.records).toContainEqual(
        expect.objectContaining({ level: 'warn', hook: 'a.sh', variable: 'METRICS_PATH' }),
      );
    });

    test('may belong to a module whose name every object has', async () => {
      const hook = contextHook(
        { beforeHelm: 1 },
        'echo "values $(cat "$VALUES_PATH") $(cat "$CONFIG_VALUES_PATH")"',
      );
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': 'constructorEnabled: true\n',
          '001-constructor/hooks/a.sh': hook,
          '002-to-string/hooks/b.sh': hook,
          '003-value-of/hooks/c.sh': hook,
        },
        config: { toStringEnabled: 'true', toString: 'a: 1\n' },
      });
      await world.converge();
      expect(world.daemon.operator.registry.enabled).toEqual(['constructor', 'to-string']);
      const global = '"global":{"enabledModules":["constructor","to-string"]}';
      expect(world.log.printed.filter((line) => line.startsWith('values '))).toEqual([
        `values {"constructor":{},${global}} {"constructor":null,"global":null}`,
        `values {${global},"toString":{"a":1}} {"global":null,"toString":{"a":1}}`,
      ]);
    });

    test('may print as an enabled script no more than as a hook: the rest is dropped and counted', async () => {
      await using world = await World.create(backend(), {
        flags: { 'hook-output-limit': '1000' },
        modules: {
          'values.yaml': 'webEnabled: true\n',
          '001-web/enabled':
            '#!/bin/sh\nhead -c 50000000 /dev/zero | tr "\\0" x; echo true > "$MODULE_ENABLED_RESULT"\n',
        },
      });
      await world.converge();
      expect(world.daemon.operator.registry.enabled).toEqual(['web']);
      expect(world.log.records).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          module: 'web',
          hook: 'enabled',
          truncatedBytes: 49_999_000,
        }),
      );
    });
  });
});
