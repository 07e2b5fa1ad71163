import { expect, test } from 'vitest';
import {
  BINDING_KINDS,
  type BindingType,
  isAwaitedByClient,
  isBesideQueues,
  isIndependent,
  isPartOfConverge,
  isPartOfDeletion,
  kindFactsOf,
  LIST_KINDS,
  lifecycleBindingsOf,
  ORDER_SECTIONS,
  QUEUED_KINDS,
  type ReasonType,
} from './binding-kinds.ts';
import { NO_BINDINGS } from './hook-config.ts';
import { hookConfigSchema } from './hook-config-schema.ts';

test.each<
  [ReasonType, { readonly beside: boolean; readonly client: boolean; readonly independent: boolean }]
>([
  ['lifecycle', { beside: false, client: false, independent: false }],
  ['deploy', { beside: true, client: false, independent: false }],
  ['synchronization', { beside: false, client: false, independent: false }],
  ['event', { beside: false, client: false, independent: true }],
  ['schedule', { beside: false, client: false, independent: true }],
  ['admission', { beside: true, client: true, independent: false }],
  ['conversion', { beside: true, client: true, independent: false }],
])('a run for the reason %s is beside the queues, awaited or independent: %o', (type, expected) => {
  const reasons = [{ type }];
  expect({
    beside: isBesideQueues(reasons),
    client: isAwaitedByClient(reasons),
    independent: isIndependent(reasons),
  }).toEqual(expected);
});

test('a run is not independent, when a Synchronization is among its reasons', () => {
  expect(isIndependent([{ type: 'event' }, { type: 'schedule' }])).toBe(true);
  expect(isIndependent([{ type: 'event' }, { type: 'synchronization' }])).toBe(false);
});

test.each<[BindingType, 'start' | 'converge' | 'deletion' | undefined]>([
  ['onStartup', undefined],
  ['beforeAll', 'converge'],
  ['beforeHelm', 'converge'],
  ['afterHelm', 'converge'],
  ['afterAll', 'converge'],
  ['beforeDeleteHelm', 'deletion'],
  ['afterDeleteHelm', 'deletion'],
  ['beforeInstall', undefined],
  ['kubernetes', undefined],
])('%s is part of: %s', (binding, expected) => {
  expect(isPartOfConverge(binding)).toBe(expected === 'converge');
  expect(isPartOfDeletion(binding)).toBe(expected === 'deletion');
});

test('lifecycle bindings are those that hooks of the scope may have, in the order of a life', () => {
  expect(lifecycleBindingsOf('global')).toEqual(['onStartup', 'beforeAll', 'afterAll']);
  expect(lifecycleBindingsOf('module')).toEqual([
    'onStartup',
    'beforeHelm',
    'afterHelm',
    'beforeDeleteHelm',
    'afterDeleteHelm',
  ]);
});

test('each section of the schema belongs to one kind', () => {
  const properties = { ...keysIn('global'), ...keysIn('module') };
  const { configVersion: _version, settings: _settings, ...sections } = properties;
  const known = Object.values(BINDING_KINDS).flatMap((kind): readonly string[] => kind.sections);
  expect(known.toSorted()).toEqual(Object.keys(sections).toSorted());
  expect(new Set(known).size).toBe(known.length);
});

function keysIn(scope: 'global' | 'module'): Readonly<Record<string, unknown>> {
  return hookConfigSchema(scope)['properties'] as Readonly<Record<string, unknown>>;
}

test('the row of a binding is found by its section', () => {
  for (const facts of Object.values(BINDING_KINDS))
    for (const section of facts.sections) expect(kindFactsOf(section)).toBe(facts);
});

test('kinds are lists or orders, and those with a queue are lists', () => {
  expect(Object.keys(NO_BINDINGS)).toEqual(expect.arrayContaining([...LIST_KINDS]));
  expect(QUEUED_KINDS).toEqual(['kubernetes', 'schedule']);
  expect(ORDER_SECTIONS).toHaveLength(13);
  // A request and a deployment have no queue, so their failures are counted for nothing in one.
  for (const { queue, failuresOf } of Object.values(BINDING_KINDS))
    expect(queue === 'none').toBe(['requests', 'deployment'].includes(failuresOf));
});
