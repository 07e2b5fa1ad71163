import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { moduleNamed } from '../../test/support/module-fixture.ts';
import { keyOfName, type ModuleKey, type ModuleName } from '../values/module-key.ts';
import { EXTENDERS, type Extender, type ModuleFlags } from './enablement.ts';
import type { Module, Refusal } from './module.ts';
import { type DiscoveryInput, discoverModules, type EnabledScript } from './module-discovery.ts';
import { NO_MANIFEST } from './module-manifest.ts';
import { parseModuleName } from './module-name.ts';

const NEVER = new AbortController().signal;

const withScript = (text: string): Module =>
  moduleNamed(text, { enabledScript: `/modules/${text}/enabled`, ownFlag: true });

const noScript: EnabledScript = () => Promise.reject(new Error('no script expected'));

interface Sources {
  readonly own?: boolean;
  readonly common?: boolean;
  readonly dynamic?: boolean;
  readonly configMap?: boolean;
  readonly script?: boolean;
  /** Whether it is in the module store. */
  readonly isStored?: true;
}

function inputFor(sources: Sources, extenders: readonly Extender[] = EXTENDERS): DiscoveryInput {
  const module = moduleNamed('web', {
    ownFlag: sources.own,
    enabledScript: sources.script === undefined ? undefined : '/modules/web/enabled',
    ...(sources.isStored && { isStored: true }),
  });
  const flag = (value: boolean | undefined): ReadonlyMap<ModuleKey, boolean> =>
    new Map(value === undefined ? [] : [[module.key, value]]);
  const flags: ModuleFlags = {
    common: flag(sources.common),
    dynamic: flag(sources.dynamic),
    configMap: flag(sources.configMap),
  };
  return { modules: [module], flags, extenders };
}

const [T, F] = [true, false];

test.each<{ sources: Sources; isEnabled: boolean; source: string }>([
  { sources: {}, isEnabled: F, source: 'default' },
  { sources: { isStored: true }, isEnabled: T, source: 'module-store' },
  { sources: { isStored: true, configMap: F }, isEnabled: F, source: 'config-map' },
  { sources: { isStored: true, script: F }, isEnabled: F, source: 'enabled-script' },
  { sources: { common: T }, isEnabled: T, source: 'common-values' },
  { sources: { common: T, own: F }, isEnabled: F, source: 'module-values' },
  { sources: { common: F, own: T }, isEnabled: T, source: 'module-values' },
  { sources: { common: T, own: F, configMap: T }, isEnabled: T, source: 'config-map' },
  { sources: { own: T, dynamic: F }, isEnabled: F, source: 'global-hook' },
  { sources: { own: F, dynamic: T }, isEnabled: T, source: 'global-hook' },
  { sources: { dynamic: T, configMap: F }, isEnabled: F, source: 'config-map' },
  { sources: { dynamic: F, configMap: T }, isEnabled: T, source: 'config-map' },
  { sources: { common: T, script: T }, isEnabled: T, source: 'common-values' },
  { sources: { common: T, script: F }, isEnabled: F, source: 'enabled-script' },
  { sources: { configMap: T, script: F }, isEnabled: F, source: 'enabled-script' },
])(
  'discoverModules() decides $isEnabled by $source from $sources',
  async ({ sources, isEnabled, source }) => {
    const script: EnabledScript = async () => ({ isEnabled: sources.script === true, reason: '' });
    const { enabled, decisions } = await discoverModules(inputFor(sources), script, NEVER);
    expect(decisions.get('web' as ModuleName)).toMatchObject({ isEnabled, source });
    expect(enabled).toStrictEqual(isEnabled ? ['web'] : []);
  },
);

test.each<Sources>([{}, { configMap: F, script: T }, { common: F, script: T }])(
  'discoverModules() runs no script of a module whose flags disable it: %j',
  async (sources) => {
    await expect(discoverModules(inputFor(sources), noScript, NEVER)).resolves.toMatchObject({ enabled: [] });
  },
);

test('discoverModules() runs no script of a module whose files are gone, and keeps it while it is deployed', async () => {
  const refusal = {
    type: 'gone',
    lost: 'directory',
    reason: 'its directory is gone',
    remedy: 'restore it',
  } as const;
  const input = { ...inputFor({ own: T, script: F }), deployed: new Set(['web' as ModuleName]) };
  const modules = input.modules.map((module) => ({ ...module, refusal }));
  const { enabled } = await discoverModules({ ...input, modules }, noScript, NEVER);
  expect(enabled).toStrictEqual(['web']);
});

test('discoverModules() follows the order of extenders that the user wants', async () => {
  const says =
    (isEnabled: boolean): EnabledScript =>
    async () => ({ isEnabled, reason: '' });
  const sources = { common: T, configMap: T, script: F };
  const scriptFirst = inputFor(sources, ['Static', 'ScriptEnabled', 'KubeConfig']);
  expect((await discoverModules(scriptFirst, says(false), NEVER)).enabled).toStrictEqual(['web']);
  const staticLast = inputFor({ common: F, configMap: T }, ['KubeConfig', 'Static']);
  expect((await discoverModules(staticLast, noScript, NEVER)).enabled).toStrictEqual([]);
});

test('discoverModules() gives the reason of the script, or says that it has none', async () => {
  const reasonFor = async (reason: string): Promise<string | undefined> => {
    const script: EnabledScript = async () => ({ isEnabled: false, reason });
    const { decisions } = await discoverModules(inputFor({ own: T, script: F }), script, NEVER);
    return decisions.get('web' as ModuleName)?.reason;
  };
  expect(await reasonFor('not enough nodes')).toBe('not enough nodes');
  expect(await reasonFor('')).toBe('the enabled script returned false');
});

test('discoverModules() keeps what each source said, in the order in which they count', async () => {
  const script: EnabledScript = async () => ({ isEnabled: false, reason: 'not enough nodes' });
  const { responses } = await discoverModules(
    inputFor({ common: T, configMap: T, script: F }),
    script,
    NEVER,
  );
  const said = responses?.get('web' as ModuleName) ?? [];
  expect(said.map(({ extender, isEnabled }) => [extender, isEnabled])).toStrictEqual([
    ['Static', true],
    ['DynamicallyEnabled', null],
    ['KubeConfig', true],
    ['ScriptEnabled', false],
  ]);
  expect(said.at(-1)).toMatchObject({ reason: 'not enough nodes', file: expect.any(String) });
});

test('discoverModules() shows each script the modules enabled before it, in run order', async () => {
  const seen: string[] = [];
  const script: EnabledScript = async ({ name }, enabledBefore) => {
    seen.push(`${name}: ${enabledBefore.join(' ')}`);
    return { isEnabled: name !== 'b', reason: '' };
  };
  const modules = [
    withScript('a'),
    withScript('b'),
    moduleNamed('off'),
    moduleNamed('on', { ownFlag: true }),
    withScript('c'),
  ];
  const flags = { common: new Map(), dynamic: new Map(), configMap: new Map() };
  const { enabled } = await discoverModules({ modules, flags, extenders: EXTENDERS }, script, NEVER);
  expect(seen).toStrictEqual(['a: ', 'b: a', 'c: a on']);
  expect(enabled).toStrictEqual(['a', 'on', 'c']);
});

test('discoverModules() ends the whole pass when a script fails', async () => {
  const ran: string[] = [];
  const script: EnabledScript = async ({ name }) => {
    ran.push(name);
    if (name === 'b') throw new OperatorError('ENABLED_SCRIPT_FAILED', 'bad enabled result');
    return { isEnabled: true, reason: '' };
  };
  const modules = [withScript('a'), withScript('b'), withScript('c')];
  const flags = { common: new Map(), dynamic: new Map(), configMap: new Map() };
  const failure = await discoverModules({ modules, flags, extenders: EXTENDERS }, script, NEVER).catch(
    (error: unknown) => error,
  );
  expect(hasCode(failure, 'DISCOVERY_FAILED')).toBe(true);
  expect(messageOf(failure)).toContain("the enabled script of module 'b' failed: bad enabled result");
  expect(ran).toStrictEqual(['a', 'b']);
});

test('discoverModules() rejects with the reason of the abort', async () => {
  const stop = new AbortController();
  const script: EnabledScript = (_module, _before, signal) => {
    stop.abort(new Error('stopping'));
    return Promise.reject(signal.reason);
  };
  await expect(discoverModules(inputFor({ own: T, script: T }), script, stop.signal)).rejects.toThrow(
    /^stopping$/,
  );
});

const REFUSAL: Refusal = { type: 'unauthorized', reason: 'it is not signed' };
const ON = (...names: string[]): ModuleFlags => ({
  common: new Map(names.map((name) => [keyOfName(name), true])),
  dynamic: new Map(),
  configMap: new Map(),
});

test.each<{ what: string; flag?: boolean; isDeployed: boolean; isEnabled: boolean; source: string }>([
  { what: 'nobody enables', isDeployed: F, isEnabled: F, source: 'authorization' },
  { what: 'a flag enables', flag: T, isDeployed: F, isEnabled: T, source: 'authorization' },
  { what: 'a flag disables', flag: F, isDeployed: F, isEnabled: F, source: 'config-map' },
  { what: 'is deployed', isDeployed: T, isEnabled: T, source: 'authorization' },
  { what: 'is deployed and disabled', flag: F, isDeployed: T, isEnabled: T, source: 'authorization' },
])(
  'discoverModules() runs and loads nothing of a module that is not authorized and $what',
  async ({ flag, isDeployed, isEnabled, source }) => {
    const module = moduleNamed('web', { refusal: REFUSAL });
    const input: DiscoveryInput = {
      modules: [module],
      flags: { ...ON(), configMap: new Map(flag === undefined ? [] : [[module.key, flag]]) },
      extenders: EXTENDERS,
      deployed: new Set(isDeployed ? [module.name] : []),
      onEnabled: () => {
        throw new Error('nothing of it may be loaded');
      },
    };
    const { decisions } = await discoverModules(input, noScript, NEVER);
    expect(decisions.get(module.name)).toMatchObject({ isEnabled, source });
  },
);

test('discoverModules() deletes no module because what it requires is not authorized, and starts none', async () => {
  const requires = [{ name: parseModuleName('web'), version: '>=1', isOptional: false }];
  const manifest = { ...NO_MANIFEST, requires };
  const modules = [
    moduleNamed('web', { refusal: REFUSAL }),
    moduleNamed('deployed', { manifest }),
    moduleNamed('new', { manifest }),
  ];
  const deployed = new Set([parseModuleName('deployed')]);
  const { enabled, decisions } = await discoverModules(
    { modules, flags: ON('deployed', 'new'), extenders: EXTENDERS, deployed },
    noScript,
    NEVER,
  );
  expect(enabled).toEqual(['deployed']);
  expect(decisions.get(parseModuleName('new'))).toMatchObject({ source: 'requirement' });
});

test.each([
  [
    false,
    { isEnabled: false, source: 'requirement', reason: 'requires module web, which is not authorized' },
  ],
  [true, { isEnabled: true, source: 'common-values' }],
])(
  'discoverModules() starts a module only if what it requires is deployed (%s) or authorized',
  async (isDeployed, decision) => {
    const web = moduleNamed('web', { refusal: REFUSAL });
    const requires = [{ name: web.name, version: undefined, isOptional: false }];
    const dns = moduleNamed('dns', { manifest: { ...NO_MANIFEST, requires } });
    const { decisions } = await discoverModules(
      {
        modules: [web, dns],
        flags: ON('web', 'dns'),
        extenders: EXTENDERS,
        deployed: new Set(isDeployed ? [web.name] : []),
      },
      noScript,
      NEVER,
    );
    expect(decisions.get(dns.name)).toMatchObject(decision);
  },
);
