import { expect, test } from 'vitest';
import { moduleNamed } from '../../test/support/module-fixture.ts';
import { keyOfName, type ModuleKey } from '../values/module-key.ts';
import {
  type Decision,
  EXTENDERS,
  type Extender,
  flagDecision,
  type ModuleFlags,
  opinionOf,
  parseExtenders,
} from './enablement.ts';
import type { Module } from './module.ts';

const key = keyOfName('my-web');
const enabled: Decision = { isEnabled: true, source: 'config-map', reason: '' };
const disabled: Decision = { ...enabled, isEnabled: false };

const moduleWith = (facts: Partial<Module>): Module => moduleNamed('my-web', facts);

function flagsWith(flags: Partial<Record<keyof ModuleFlags, boolean>>): ModuleFlags {
  const mapOf = (flag: boolean | undefined): ReadonlyMap<ModuleKey, boolean> =>
    new Map(flag === undefined ? [] : [[key, flag]]);
  return { common: mapOf(flags.common), dynamic: mapOf(flags.dynamic), configMap: mapOf(flags.configMap) };
}

test.each<[Extender, Partial<Module>, Partial<Record<keyof ModuleFlags, boolean>>, Decision]>([
  [
    'Static',
    {},
    { common: true },
    { isEnabled: true, source: 'common-values', reason: 'myWebEnabled in the common values.yaml is true' },
  ],
  [
    'Static',
    { ownFlag: false },
    { common: true },
    {
      isEnabled: false,
      source: 'module-values',
      reason: 'myWebEnabled in the values.yaml of the module is false',
    },
  ],
  [
    'DynamicallyEnabled',
    {},
    { dynamic: true },
    { isEnabled: true, source: 'global-hook', reason: 'myWebEnabled set by global hook is true' },
  ],
  [
    'KubeConfig',
    {},
    { configMap: false },
    { isEnabled: false, source: 'config-map', reason: 'myWebEnabled in the ConfigMap is false' },
  ],
])('opinionOf() gives the flag of %s with its source', (extender, module, flags, decision) => {
  expect(opinionOf(extender, moduleWith(module), flagsWith(flags), disabled)).toStrictEqual({
    type: 'flag',
    decision,
  });
});

test.each<Extender>(['Static', 'DynamicallyEnabled', 'KubeConfig', 'ScriptEnabled'])(
  'opinionOf() finds none of %s where it says nothing',
  (extender) => {
    expect(opinionOf(extender, moduleWith({}), flagsWith({}), enabled)).toStrictEqual({ type: 'none' });
  },
);

test('opinionOf() runs a script only for a module that is enabled so far', () => {
  const module = moduleWith({ enabledScript: '/modules/my-web/enabled' });
  expect(opinionOf('ScriptEnabled', module, flagsWith({}), enabled)).toStrictEqual({ type: 'run-script' });
  expect(opinionOf('ScriptEnabled', module, flagsWith({}), disabled)).toStrictEqual({ type: 'none' });
});

test.each([
  [{}, false, 'default'],
  [{ common: true }, true, 'common-values'],
  [{ common: true, configMap: false }, false, 'config-map'],
  [{ common: false, dynamic: true }, true, 'global-hook'],
  [{ dynamic: true, configMap: false }, false, 'config-map'],
])('flagDecision() takes the last word of %j, whatever a script says', (flags, isEnabled, source) => {
  const module = moduleWith({ enabledScript: '/modules/my-web/enabled' });
  expect(flagDecision(module, flagsWith(flags), EXTENDERS)).toMatchObject({ isEnabled, source });
});

test('parseExtenders() takes names in the order given, and the usual list for nothing', () => {
  expect(parseExtenders('KubeConfig, Static')).toStrictEqual(['KubeConfig', 'Static']);
  expect(parseExtenders('')).toStrictEqual(['Static', 'DynamicallyEnabled', 'KubeConfig', 'ScriptEnabled']);
});

test.each([
  ['static', "couldn't find static extender in the list of available extenders"],
  ['Static,,KubeConfig', "couldn't find  extender in the list of available extenders"],
  [
    'Static,KubeConfig,Static',
    'there are multiple entries for Static extender in ADDON_OPERATOR_APPLIED_MODULE_EXTENDERS variable',
  ],
])('parseExtenders() refuses %j', (text, message) => {
  expect(() => parseExtenders(text)).toThrow(message);
});
