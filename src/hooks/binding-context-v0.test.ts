import { expect, test } from 'vitest';
import { parse } from '../../test/support/hook-configs.ts';
import type { RunReason } from './binding-context.ts';
import { buildBindingContextsV0 } from './binding-context-v0.ts';

const config = await parse({
  schedule: [{ name: 'nightly', crontab: '@daily' }],
  onKubernetesEvent: [{ name: 'pods', kind: 'pod', event: ['add', 'update', 'delete'] }],
});

test('a context without an object is the binding alone', () => {
  const reasons: readonly RunReason[] = [
    { type: 'lifecycle', binding: 'onStartup' },
    { type: 'lifecycle', binding: 'beforeHelm' },
    ...config.schedule.map((binding) => ({ type: 'schedule', binding }) as const),
  ];
  expect(buildBindingContextsV0(reasons).map(({ context }) => context)).toEqual([
    { binding: 'onStartup' },
    { binding: 'beforeHelm' },
    { binding: 'nightly' },
  ]);
});

test.each([
  ['Added', 'add'],
  ['Modified', 'update'],
  ['Deleted', 'delete'],
] as const)('a context of %s names the object', (watchEvent, resourceEvent) => {
  const object = { kind: 'Pod', metadata: { namespace: 'x', name: 'p' } };
  const reasons = config.kubernetes.map(
    (binding) => ({ type: 'event', binding, event: { watchEvent, key: '/a', item: { object } } }) as const,
  );
  expect(buildBindingContextsV0(reasons).map(({ context }) => context)).toEqual([
    {
      binding: 'pods',
      resourceEvent,
      resourceNamespace: 'x',
      resourceKind: 'Pod',
      resourceName: 'p',
    },
  ]);
});

test('objects outside of namespaces have an empty one', () => {
  const object = { kind: 'Node', metadata: { name: 'n' } };
  const reasons = config.kubernetes.map(
    (binding) =>
      ({ type: 'event', binding, event: { watchEvent: 'Added', key: '/a', item: { object } } }) as const,
  );
  expect(buildBindingContextsV0(reasons).map(({ context }) => context)).toMatchObject([
    { resourceNamespace: '', resourceKind: 'Node' },
  ]);
});
