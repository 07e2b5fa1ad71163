import { findExecutable } from '@addon-operator/process/executable-file';
import { describe, expect, test } from 'vitest';
import { configMapBinding, contextHook, contextsOf, untilRuns, watchedMap } from '../support/context-hook.ts';
import { jqForTests } from '../support/jq/jq-program.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';

/**
 * What ends without a response, by engine: at a limit of the built-in one, by running out of memory, or out of time. A
 * process is stopped in the same way whatever it does, which takes its time; `jq-engines.test.ts` of `src/jq` has more.
 */
const ENDLESS: Readonly<Record<string, readonly string[]>> = {
  'built in': ['[range(1e9)]', 'last(range(1e12))'],
  'of PATH': ['def f: f; f'],
  '1.8.2': ['[range(1e9)]'],
};

const systemJq = findExecutable('jq', process.env['PATH'] ?? '');
const pinnedJq = await jqForTests();
/** The engines that this machine has, by name. */
const engines: readonly (readonly [string, string])[] = [
  ['built in', 'builtin'],
  ...(systemJq === undefined ? [] : [['of PATH', systemJq] as const]),
  ...(pinnedJq === undefined ? [] : [['1.8.2', pinnedJq] as const]),
];

/** Filters of kubernetes bindings from end to end; section 4.4 of the hook contract, faults F4, M22 and M24. */
describeApiIndependent((backend) => {
  describe.each(engines)('jq %s', (name, jq) => {
    test('each kind of result of a jqFilter arrives as it should', async () => {
      await using world = await World.create(backend(), { flags: { jq } });
      await world.create('configmaps', watchedMap('one', 'item', { a: '1', b: '.|env' }));
      const filters: Readonly<Record<string, unknown>> = {
        '.data.a, .data.b': ['1', '.|env'],
        '.data.a | tonumber': 1,
        empty: null,
        '.data.missing': null,
        '[.data | keys[]]': ['a', 'b'],
        'try error("x") catch .': 'x',
        'env, $ENV': [{}, {}],
        '.data.b as $program | {$program}': { program: '.|env' },
      };
      await world.write('global-hooks', {
        'a.sh': contextHook({
          kubernetes: Object.keys(filters).map((jqFilter, at) => ({
            ...configMapBinding(world.namespace, 'item', { jqFilter, keepFullObjectsInMemory: false }),
            name: `filter ${at}`,
          })),
        }),
      });
      await world.converge();
      const contexts = contextsOf(world.log, 'a.sh').flat();
      const results = contexts.map((context) => (context as { readonly objects?: unknown }).objects);
      expect(results).toEqual(Object.values(filters).map((filterResult) => [{ filterResult }]));
    });

    test('an existing object on which a jqFilter fails is left out until it is corrected, with the error of the engine', async () => {
      await using world = await World.create(backend(), { flags: { jq } });
      await world.create('configmaps', watchedMap('one', 'item', { bad: 'yes' }));
      const jqFilter = 'if .data.bad then error({reason: .data.bad}) else 1 end';
      await world.write('global-hooks', {
        'a.sh': contextHook({ kubernetes: [configMapBinding(world.namespace, 'item', { jqFilter })] }),
      });
      await world.converge();
      const failed = world.log.records.find(({ msg }) => String(msg).startsWith('filter failed'));
      expect(failed?.['error']).toContain('{"reason":"yes"}');
      await world.merge('configmaps', 'one', { data: { bad: null } });
      await untilRuns(world.log, 'a.sh', 2);
      expect(contextsOf(world.log, 'a.sh')).toMatchObject([
        [{ objects: [] }],
        [{ watchEvent: 'Added', filterResult: 1 }],
      ]);
    });

    test('integers beyond 2^53 are as the engine returns them', async () => {
      await using world = await World.create(backend(), { flags: { jq } });
      await world.create('configmaps', watchedMap('one', 'item', { n: '9007199254740993' }));
      const filter = { jqFilter: '.data.n | fromjson', keepFullObjectsInMemory: false };
      await world.write('global-hooks', {
        'a.sh': contextHook({ kubernetes: [configMapBinding(world.namespace, 'item', filter)] }),
      });
      await world.converge();
      const [engine] = world.log.records.filter(({ msg }) => msg === 'jq engine');
      const digits = engine?.['engine'] === 'jq 1.6' ? '9007199254740992' : '9007199254740993';
      expect(world.log.printed.at(-1)).toContain(`"filterResult":${digits}`);
    });

    test.each(ENDLESS[name] ?? [])(
      'the filter %s is stopped and reported while other hooks continue',
      async (endless) => {
        await using world = await World.create(backend(), { flags: { jq } });
        const binding = (jqFilter: string, queue: string) =>
          configMapBinding(world.namespace, 'item', { jqFilter, queue, keepFullObjectsInMemory: false });
        await world.write('global-hooks', {
          'bad.sh': contextHook({
            kubernetes: [binding(`if .data.endless then ${endless} else .metadata.name end`, 'bad')],
          }),
          'good.sh': contextHook({ kubernetes: [binding('.metadata.name', 'good')] }),
        });
        await world.converge();
        await world.create('configmaps', watchedMap('one', 'item', { endless: 'yes' }));
        await untilRuns(world.log, 'good.sh', 2);
        await world.log.untilMessage('filter failed, the object is left out until a retry succeeds');
        await world.create('configmaps', watchedMap('two', 'item'));
        await untilRuns(world.log, 'bad.sh', 2);
        expect(contextsOf(world.log, 'bad.sh').at(-1)).toMatchObject([{ filterResult: 'two' }]);
      },
    );
  });
});
