import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { moduleNamed } from '../../test/support/module-fixture.ts';
import type { ModuleName } from '../values/module-key.ts';
import { EXTENDERS, type Extender } from './enablement.ts';
import type { Module } from './module.ts';
import { discoverModules, type EnabledScript, type ModuleDiscovery } from './module-discovery.ts';
import { NO_MANIFEST } from './module-manifest.ts';
import { parseModuleName } from './module-name.ts';

const NEVER = new AbortController().signal;

interface World {
  /** Scripts by module: what they say, or that they fail; the list of enabled modules decides for `sees:NAME`. */
  readonly scripts: Readonly<Record<string, string>>;
  readonly requires?: Readonly<Record<string, string>>;
  readonly lastEnabled?: readonly string[];
  readonly deployed?: readonly string[];
  /** The flags of all modules in the ConfigMap. */
  readonly configMap?: boolean;
  readonly extenders?: readonly Extender[];
  readonly fields?: Partial<Module>;
}

const names = (list: readonly string[]): ReadonlySet<ModuleName> =>
  new Set(list.map((name) => parseModuleName(name)));

function discover({
  scripts,
  requires = {},
  lastEnabled = [],
  deployed = [],
  configMap,
  extenders = EXTENDERS,
  fields = {},
}: World): Promise<ModuleDiscovery> {
  const modules = Object.entries(scripts).map(([name, says]) => {
    const required = requires[name];
    const manifest =
      required === undefined
        ? NO_MANIFEST
        : {
            ...NO_MANIFEST,
            requires: [{ name: parseModuleName(required), version: undefined, isOptional: false }],
          };
    const enabledScript = says === 'none' ? undefined : `/modules/${name}/enabled`;
    return moduleNamed(name, { ownFlag: true, enabledScript, manifest, ...fields });
  });
  const run: EnabledScript = async ({ name }, enabledBefore) => {
    const says = scripts[name] ?? '';
    if (says === 'fails') throw new OperatorError('ENABLED_SCRIPT_FAILED', 'exit code 3: no route');
    const seen = enabledBefore.some((other) => `sees:${other}` === says);
    return { isEnabled: says === 'true' || seen, reason: '' };
  };
  const flags = new Map(
    modules.flatMap(({ key }) => (configMap === undefined ? [] : [[key, configMap] as const])),
  );
  const input = {
    modules,
    flags: { common: new Map(), dynamic: new Map(), configMap: flags },
    extenders,
    lastEnabled: names(lastEnabled),
    deployed: names(deployed),
  };
  return discoverModules(input, run, NEVER);
}

test.each<[what: string, world: World, enabled: readonly string[], undecided: readonly string[]]>([
  ['was enabled', { scripts: { a: 'fails', b: 'true' }, lastEnabled: ['a'] }, ['a', 'b'], ['a']],
  ['was not enabled', { scripts: { a: 'fails', b: 'true' } }, ['b'], ['a']],
  [
    'was not enabled and has a release, as while it is deleted',
    { scripts: { a: 'fails', b: 'true' }, deployed: ['a'] },
    ['b'],
    ['a'],
  ],
  [
    'was enabled, for a script that looks for it',
    { scripts: { a: 'fails', b: 'sees:a' }, lastEnabled: ['a'] },
    ['a', 'b'],
    ['a'],
  ],
  ['was not enabled, for a script that looks for it', { scripts: { a: 'fails', b: 'sees:a' } }, [], ['a']],
  [
    'was enabled, for a deployed module that requires it',
    {
      scripts: { a: 'fails', b: 'none' },
      requires: { b: 'a' },
      lastEnabled: ['a', 'b'],
      deployed: ['a', 'b'],
    },
    ['a', 'b'],
    ['a'],
  ],
  [
    'was not enabled, for a deployed module that requires it',
    { scripts: { a: 'fails', b: 'none' }, requires: { b: 'a' }, lastEnabled: ['b'], deployed: ['b'] },
    ['b'],
    ['a'],
  ],
  [
    'is deployed, for a new module that requires it',
    { scripts: { a: 'fails', b: 'none' }, requires: { b: 'a' }, lastEnabled: ['a'], deployed: ['a'] },
    ['a', 'b'],
    ['a'],
  ],
  [
    'is not deployed, for a new module that requires it',
    { scripts: { a: 'fails', b: 'none' }, requires: { b: 'a' } },
    [],
    ['a'],
  ],
  [
    'and one behind it that were enabled',
    { scripts: { a: 'fails', b: 'fails', c: 'sees:b' }, lastEnabled: ['a', 'b'] },
    ['a', 'b', 'c'],
    ['a', 'b'],
  ],
  [
    'is decided by a source that counts more',
    {
      scripts: { a: 'fails' },
      extenders: ['Static', 'ScriptEnabled', 'KubeConfig'],
      configMap: false,
      lastEnabled: ['a'],
    },
    [],
    [],
  ],
  [
    'is protected and was not enabled',
    {
      scripts: { a: 'fails' },
      deployed: ['a'],
      fields: { manifest: { ...NO_MANIFEST, deletionPolicy: 'protect' } },
    },
    [],
    ['a'],
  ],
  [
    'lost files, which counts more',
    {
      scripts: { a: 'fails' },
      deployed: ['a'],
      fields: { refusal: { type: 'gone', lost: 'directory', reason: 'gone', remedy: 'restore it' } },
    },
    ['a'],
    [],
  ],
])(
  'discoverModules() keeps a module whose script fails as it is, and decides about all others, when it %s',
  async (_what, world, enabled, undecided) => {
    const found = await discover(world);
    expect({ enabled: found.enabled, undecided: [...(found.undecided?.keys() ?? [])] }).toEqual({
      enabled,
      undecided,
    });
  },
);

test('discoverModules() says which script failed, and why', async () => {
  const { decisions, responses, undecided } = await discover({ scripts: { a: 'fails' }, lastEnabled: ['a'] });
  const reason = 'its enabled script /modules/a/enabled failed: exit code 3: no route';
  const [a = parseModuleName('a')] = decisions.keys();
  expect(decisions.get(a)).toEqual({ isEnabled: true, source: 'enabled-script-failure', reason });
  expect(undecided?.get(a)).toBe(reason);
  expect(responses?.get(a)?.at(-1)).toMatchObject({ isEnabled: null, reason });
});

test('a new module that requires one whose script fails says so', async () => {
  const { decisions } = await discover({ scripts: { a: 'fails', b: 'none' }, requires: { b: 'a' } });
  expect(decisions.get(parseModuleName('b'))).toMatchObject({
    source: 'requirement',
    reason: 'requires module a, which is held because its enabled script fails',
  });
});
