import { expect, test } from 'vitest';
import type { ResourceObject } from './resource-object.ts';
import { ObjectStore, type StoreChange } from './sandbox-store.ts';

const CONFIG_MAPS = '/configmaps';

function configMap(name: string, data: Readonly<Record<string, string>> = {}): ResourceObject {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'a' }, data };
}

function newStore(log: StoreChange[] = []): ObjectStore {
  return new ObjectStore({ revision: 10, objects: [] }, { append: (change) => log.push(change) });
}

test('each change gets the next revision over all storages', () => {
  const store = newStore();
  expect(store.write(CONFIG_MAPS, 'a/x', configMap('x')).metadata.resourceVersion).toBe('11');
  expect(store.write('/secrets', 'a/x', configMap('x')).metadata.resourceVersion).toBe('12');
  expect(store.remove(CONFIG_MAPS, 'a/x')?.metadata.resourceVersion).toBe('13');
  expect(store.remove(CONFIG_MAPS, 'a/x')).toBeUndefined();
  expect(store.revision).toBe(13);
});

test('a change is in the log before anyone sees it, and is not made when the log refuses', () => {
  const store = new ObjectStore(
    { revision: 0, objects: [] },
    {
      append: () => {
        throw new Error('disk full');
      },
    },
  );
  expect(() => store.write(CONFIG_MAPS, 'a/x', configMap('x'))).toThrow('disk full');
  expect(store.get(CONFIG_MAPS, 'a/x')).toBeUndefined();
  expect(store.revision).toBe(0);
});

test('lists in key order, by namespace, behind a key', () => {
  const store = newStore();
  for (const key of ['b/1', 'a/2', 'a/1']) store.write(CONFIG_MAPS, key, configMap(key));
  const names = (...args: readonly [string?, string?]): string[] =>
    [...store.list(CONFIG_MAPS, ...args)].map(({ metadata }) => metadata.name);
  expect(names()).toEqual(['a/1', 'a/2', 'b/1']);
  expect(names('a')).toEqual(['a/1', 'a/2']);
  expect(names('a', 'a/1')).toEqual(['a/2']);
  expect(store.count(CONFIG_MAPS)).toBe(3);
  expect(store.count(CONFIG_MAPS, 'a')).toBe(2);
  expect(store.count('/none')).toBe(0);
});

test('subscribers hear type, object and previous state', () => {
  const store = newStore();
  const heard: string[] = [];
  const stop = store.subscribe(({ type, key, previous }) =>
    heard.push(`${type} ${key} ${previous === undefined}`),
  );
  store.write(CONFIG_MAPS, 'a/x', configMap('x'));
  store.write(CONFIG_MAPS, 'a/x', configMap('x', { a: 'b' }));
  store.remove(CONFIG_MAPS, 'a/x');
  stop();
  store.write(CONFIG_MAPS, 'a/y', configMap('y'));
  expect(heard).toEqual(['added a/x true', 'modified a/x false', 'removed a/x false']);
});

test('changesSince() gives the later changes of one storage', () => {
  const store = newStore();
  store.write(CONFIG_MAPS, 'a/x', configMap('x'));
  store.write('/secrets', 'a/x', configMap('x'));
  store.write(CONFIG_MAPS, 'a/y', configMap('y'));
  expect(store.changesSince(CONFIG_MAPS, 11)?.map(({ key }) => key)).toEqual(['a/y']);
  expect(store.changesSince(CONFIG_MAPS, 13)).toEqual([]);
});

test('changesSince() knows nothing of the future, nor of what was before the start', () => {
  const store = newStore();
  expect(store.changesSince(CONFIG_MAPS, 9)).toBeUndefined();
  expect(store.changesSince(CONFIG_MAPS, 11)).toBeUndefined();
  expect(store.changesSince(CONFIG_MAPS, 10)).toEqual([]);
});

test('old changes are forgotten, the newest thousand are not', () => {
  const store = newStore();
  for (let count = 0; count < 3000; count += 1) store.write(CONFIG_MAPS, 'a/x', configMap('x'));
  expect(store.changesSince(CONFIG_MAPS, 11)).toBeUndefined();
  expect(store.compactedRevision).toBeGreaterThan(900);
  expect(store.changesSince(CONFIG_MAPS, store.revision - 1000)).toHaveLength(1000);
});
