import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Arbitrary, array, assert, asyncProperty, boolean, constantFrom, record } from 'fast-check';
import { expect, test, vi } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 20 };
const NAMES = ['base', 'one', 'gone'] as const;
/** What it sets never changes: what a hook sets for the first time cannot be planned. */
const HOOK = shHook(
  'beforeAll: 1',
  `echo '{"op":"add","path":"/global/facts","value":{"nodes":3}}' > "$VALUES_JSON_PATCH_PATH"
echo '{"op":"add","path":"/oneEnabled","value":true}' >> "$VALUES_JSON_PATCH_PATH"`,
);

/** What people may have changed before a start; the empty text means nothing. */
const situation = record({
  global: constantFrom('', 'size: 1\n', 'size: 2\n'),
  one: constantFrom('', 'color: red\n', 'unused: 1\n', 'unused: 2\n'),
  flag: constantFrom('', 'true', 'false'),
  template: constantFrom('a', 'b'),
  isGoneEnabled: boolean(),
  hasDirectory: boolean(),
});
type Situation = typeof situation extends Arbitrary<infer T> ? T : never;

function filesOf({ template, isGoneEnabled, hasDirectory }: Situation): FileTree {
  return {
    'values.yaml': `baseEnabled: true\ngoneEnabled: ${isGoneEnabled}\n`,
    ...under('001-base', configMapChart('base', 'base')),
    '002-one/Chart.yaml': 'apiVersion: v2\nname: one\nversion: 0.1.0\n',
    '002-one/templates/map.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: one}
data: {template: ${template}, color: {{ .Values.one.color | default "none" }}}
`,
    ...(hasDirectory && under('003-gone', configMapChart('gone', 'gone'))),
  };
}

async function bringAbout(world: World, now: Situation, hasHook: boolean): Promise<void> {
  await rm(join(world.directory, 'modules', '003-gone'), { recursive: true, force: true });
  await world.write('modules', filesOf(now));
  if (!hasHook) await rm(join(world.directory, 'global-hooks', 'hook.sh'), { force: true });
  const { global, one, flag } = now;
  await world.putConfig({
    ...(global !== '' && { global }),
    ...(one !== '' && { one }),
    ...(flag !== '' && { oneEnabled: flag }),
  });
}

/** Starts a daemon and lets it do all that it does at a start. */
async function start(world: World): Promise<void> {
  await world.converge();
  const { operator } = world.daemon;
  await vi.waitFor(
    () => expect([operator.converge.purge, operator.router.main.entries.length]).toEqual(['decided', 0]),
    WAIT,
  );
  await world.stop();
}

/** Newest revisions by release. */
async function revisions(world: World): Promise<ReadonlyMap<string, number>> {
  const path = `${world.path('secrets')}?labelSelector=owner%3Dhelm`;
  const { items } = (await world.expect({ path })) as {
    items: readonly { readonly metadata: { readonly labels: Readonly<Record<string, string>> } }[];
  };
  const newest = new Map<string, number>();
  for (const { labels } of items.map(({ metadata }) => metadata)) {
    const { name = '', version } = labels;
    newest.set(name, Math.max(newest.get(name) ?? 0, Number(version)));
  }
  return newest;
}

/** What became of a release, in the words of a plan. */
function outcomeOf(
  name: string,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): string {
  const [was, is] = [before.get(name), after.get(name)];
  if (was === is) return 'no change';
  if (is === undefined) return 'removed';
  return was === undefined ? 'install' : 'upgrade';
}

const WORDS: Readonly<Record<string, string>> = {
  none: 'no change',
  'stay-off': 'no change',
  delete: 'removed',
  purge: 'removed',
};

/** What a plan says, by release. */
async function planned(world: World): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await runInWorld(world, 'plan', '-o', 'json');
  const { modules } = JSON.parse(stdout) as {
    readonly modules: readonly { readonly module: string; readonly action: string }[];
  };
  const said = modules.map(({ module, action }) => [module, WORDS[action] ?? action] as const);
  return { ...Object.fromEntries(NAMES.map((name) => [name, 'no change'])), ...Object.fromEntries(said) };
}

describeLifecycle((backend) => {
  test('a start does what a plan shows, for any change of values, files, flags and the ConfigMap', async () => {
    await assert(
      asyncProperty(
        situation,
        array(situation, { minLength: 4, maxLength: 4 }),
        constantFrom(0, 2, 4),
        async (first, others, hookIsRemovedBefore) => {
          await using world = await World.create(backend(), { globalHooks: { 'hook.sh': HOOK } });
          await bringAbout(world, first, true);
          await start(world);
          for (const [index, next] of others.entries()) {
            await bringAbout(world, next, index < hookIsRemovedBefore);
            const before = await revisions(world);
            const said = await planned(world);
            await start(world);
            const after = await revisions(world);
            const done = Object.fromEntries(NAMES.map((name) => [name, outcomeOf(name, before, after)]));
            expect(said).toEqual(done);
          }
        },
      ),
      // Every situation is deployed for real: one history is enough, and one that fails is not made smaller.
      { numRuns: 1, endOnFailure: true },
    );
  });
});
