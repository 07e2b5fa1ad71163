import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import { ModuleObjectStore } from './module-object-store.ts';

function module(resourceVersion: string, metadata: object = {}): KubeObject {
  return { metadata: { name: 'web', uid: 'u', resourceVersion, generation: 2, ...metadata } };
}

function recorded(store: ModuleObjectStore): string[] {
  const said: string[] = [];
  store.onChange((name, before, after) => {
    said.push(
      `${name}: ${before?.operation ?? '-'} ${after?.operation ?? '-'} ${after?.finalizers.join() ?? 'gone'}`,
    );
  });
  return said;
}

const asked = (word: string) => ({ annotations: { 'addon-operator.io/operation': word } });

test('the store reports operations, finalizers and deletions, each change once', async () => {
  const store = new ModuleObjectStore();
  const said = recorded(store);
  await store.stage([module('1', { finalizers: ['a/b'] })]);
  expect(store.all).toEqual([]);
  store.commit();
  await store.apply({ type: 'Modified', key: '/web', object: module('2', asked('force-reconcile')) });
  store.put(module('2', asked('force-reconcile')));
  await store.apply({ type: 'Modified', key: '/web', object: module('3', asked('dance')) });
  await store.apply({ type: 'Deleted', key: '/web', object: undefined });
  expect(said).toEqual([
    'web: - - a/b',
    'web: - force-reconcile ',
    'web: force-reconcile - ',
    'web: - - gone',
  ]);
  expect(store.get('web')).toBeUndefined();
});

test('an object shows who owns it and whether it is going', () => {
  const store = new ModuleObjectStore();
  store.put(
    module('1', {
      annotations: { 'addon-operator.io/operator': 'ns/cm' },
      deletionTimestamp: '2026-01-01T00:00:00Z',
    }),
  );
  expect(store.get('web')).toMatchObject({ operator: 'ns/cm', isDeleting: true, generation: 2 });
});

test('a listener that ended hears nothing, and a list that starts again forgets what was staged', async () => {
  const store = new ModuleObjectStore();
  const said: string[] = [];
  const end = store.onChange((name) => said.push(name));
  await store.stage([module('1')]);
  store.discard();
  store.commit();
  end();
  store.put(module('2'));
  expect(said).toEqual([]);
});

test('a response that arrives after the watch has brought a later state or the deletion changes nothing', async () => {
  const store = new ModuleObjectStore();
  const said = recorded(store);
  await store.apply({ type: 'Added', key: '/web', object: module('9') });
  await store.apply({ type: 'Modified', key: '/web', object: module('11', asked('abort')) });
  expect(store.put(module('10'))).toMatchObject({ resourceVersion: '11', operation: 'abort' });
  await store.apply({ type: 'Deleted', key: '/web', object: undefined });
  store.put(module('12'));
  expect(store.get('web')).toBeUndefined();
  expect(said).toEqual(['web: - - ', 'web: - abort ', 'web: abort - gone']);
  store.put(module('13', { uid: 'new' }));
  expect(store.get('web')).toMatchObject({ uid: 'new' });
});

test('a new list replaces what is known, also by an older state of an object', async () => {
  const store = new ModuleObjectStore();
  await store.apply({ type: 'Added', key: '/web', object: module('9') });
  await store.apply({ type: 'Deleted', key: '/web', object: undefined });
  await store.stage([module('5')]);
  store.commit();
  store.put(module('6'));
  expect(store.get('web')).toMatchObject({ resourceVersion: '6' });
});
