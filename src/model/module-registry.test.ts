import { expect, test } from 'vitest';
import { labDiscovery } from '../../test/support/lab-discovery.ts';
import { moduleFor, name, operatorLab } from '../../test/support/operator-lab.ts';
import { ModuleRegistry } from './module-registry.ts';

const [web, db] = [moduleFor('web', 2), moduleFor('db', 1)];

function registryWith({ enabled = [] as readonly string[], flaggedOff = [] as readonly string[] }) {
  const registry = new ModuleRegistry([web, db], (module) => flaggedOff.includes(module));
  registry.setDiscovery(labDiscovery([web, db], new Set(enabled)));
  return registry;
}

test('modules are in run order: by number, then by name', () => {
  const modules = [moduleFor('a', 20), moduleFor('c', 10), moduleFor('b', 10), moduleFor('d', 1)];
  const registry = new ModuleRegistry(modules, () => false);
  expect(registry.modules.map((module) => module.name)).toEqual(['d', 'b', 'c', 'a']);
});

test('nothing is enabled before the first discovery', () => {
  const registry = new ModuleRegistry([web], () => false);
  expect(registry.enabled).toEqual([]);
  expect(registry.isEnabled(web.name)).toBe(false);
});

test('a state keeps its place when its module is read again', () => {
  const registry = new ModuleRegistry([web], () => false);
  const state = registry.track(web.name);
  const changed = moduleFor('web', 7);
  registry.setModules([changed]);
  expect(registry.track(web.name)).toBe(state);
  expect(state?.module).toBe(changed);
});

test('a module that is not known has no state', () => {
  const registry = new ModuleRegistry([web], () => false);
  expect(registry.track(name('gone'))).toBeUndefined();
  expect(registry.find('gone')).toBeUndefined();
});

test('an enabled module is not wanted any more, when a flag has disabled it since the discovery', () => {
  expect(registryWith({ enabled: ['web'] }).isWanted(web.name)).toBe(true);
  expect(registryWith({ enabled: ['web'], flaggedOff: ['web'] }).isWanted(web.name)).toBe(false);
});

test('a deletion is pending of a started module that is not enabled', () => {
  const registry = registryWith({ enabled: ['db'] });
  expect(registry.isDeletionPending(web.name)).toBe(false);
  for (const module of [web, db]) registry.track(module.name)?.apply({ type: 'hooks-loaded', hooks: [] });
  expect([...registry.started].toSorted()).toEqual(['db', 'web']);
  expect(registry.isDeletionPending(web.name)).toBe(true);
  expect(registry.isDeletionPending(db.name)).toBe(false);
});

test('a module is wanted while discovery found it enabled and no flag has disabled it since', async () => {
  await using lab = await operatorLab(['web']);
  const { operator } = lab;
  const web = name('web');
  expect([operator.registry.isEnabled(web), operator.registry.isWanted(web)]).toEqual([false, false]);
  await lab.converge();
  expect([operator.registry.isEnabled(web), operator.registry.isWanted(web)]).toEqual([true, true]);
  lab.flaggedOff.add('web');
  expect([operator.registry.isEnabled(web), operator.registry.isWanted(web)]).toEqual([true, false]);
});

test('track() knows known modules only', async () => {
  await using lab = await operatorLab(['web']);
  expect(lab.operator.registry.track(name('other'))).toBeUndefined();
  const state = lab.operator.registry.track(name('web'));
  expect(state).toMatchObject({ phase: 'startup', hooks: undefined });
  expect(lab.operator.registry.track(name('web'))).toBe(state);
});
