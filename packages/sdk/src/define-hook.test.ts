import type { Json } from '@addon-operator/json';
import { expect, expectTypeOf, test } from 'vitest';
import type { AdmissionRequest, BindingContext, KubernetesObject } from './binding-contexts.ts';
import { defineHook, isHookDefinition } from './define-hook.ts';

const nothing = (): void => undefined;

test('defineHook() makes a frozen definition that is known as one', () => {
  const hook = defineHook({ onStartup: 1 }, nothing);
  expect(isHookDefinition(hook)).toBe(true);
  expect(Object.isFrozen(hook)).toBe(true);
  expect([null, {}, nothing, 7, { config: {}, handler: nothing }].some(isHookDefinition)).toBe(false);
});

test('defineHook() does not compile with a configuration that cannot be right, or without one', () => {
  // @ts-expect-error: misspelt
  defineHook({ onStartUp: 1 }, nothing);
  // @ts-expect-error: an order is a number
  defineHook({ onStartup: '1' }, nothing);
  // @ts-expect-error: no handler
  expect(() => defineHook({ onStartup: 1 })).toThrow(/second argument/);
  // @ts-expect-error: no configuration
  expect(() => defineHook(null, nothing)).toThrow(/first argument/);
});

test('contexts have the types that the configuration leads to', () => {
  const { config } = defineHook(
    {
      onStartup: 1,
      beforeHelm: 2,
      schedule: [{ crontab: '* * * * *' }, { name: 'nightly', crontab: '@daily', group: 'all' }],
      kubernetes: [
        { name: 'pods', kind: 'Pod', jqFilter: '.spec', keepFullObjectsInMemory: false, group: 'all' },
        { name: 'nodes', kind: 'Node', includeSnapshotsFrom: ['pods'] },
      ],
      kubernetesValidating: [{ name: 'check.example.com' }],
    },
    nothing,
  );
  type Context = BindingContext<typeof config>;
  expectTypeOf<Context['binding']>().toEqualTypeOf<
    'onStartup' | 'beforeHelm' | 'schedule' | 'nightly' | 'pods' | 'nodes' | 'check.example.com'
  >();
  type Of<Type> = Extract<Context, { readonly type: Type }>;
  expectTypeOf<Of<'Schedule'>['binding']>().toEqualTypeOf<'schedule'>();
  expectTypeOf<Of<'Event'>['binding']>().toEqualTypeOf<'nodes'>();
  expectTypeOf<Of<'Event'>['object']>().toEqualTypeOf<KubernetesObject>();
  expectTypeOf<Of<'Event'>['snapshots']['pods'][number]>().toEqualTypeOf<{ readonly filterResult: Json }>();
  expectTypeOf<Of<'Group'>['groupName']>().toEqualTypeOf<'all'>();
  expectTypeOf<keyof Of<'Group'>['snapshots']>().toEqualTypeOf<'pods'>();
  expectTypeOf<Of<'Validating'>['review']['request']>().toEqualTypeOf<AdmissionRequest>();
  type BeforeHelm = Extract<Context, { readonly binding: 'beforeHelm' }>;
  expectTypeOf<keyof BeforeHelm['snapshots']>().toEqualTypeOf<'pods' | 'nodes'>();
  type OnStartup = Extract<Context, { readonly binding: 'onStartup' }>;
  expectTypeOf<OnStartup['snapshots']>().toEqualTypeOf<undefined>();
});

test('contexts of a deploy have the types of what is known at their step', () => {
  const { config } = defineHook(
    { beforeInstall: 1, afterLaunch: 2, afterAuthFail: 3, kubernetes: [{ name: 'nodes', kind: 'Node' }] },
    nothing,
  );
  type Of<Binding> = Extract<BindingContext<typeof config>, { readonly binding: Binding }>;
  expectTypeOf<Of<'afterLaunch'>['release']['revision']>().toEqualTypeOf<number>();
  expectTypeOf<Of<'afterLaunch'>['release']['previousRevision']>().toEqualTypeOf<number>();
  expectTypeOf<keyof Of<'beforeInstall'>['release']>().toEqualTypeOf<'previousRevision'>();
  expectTypeOf<Of<'afterAuthFail'>['authorization']['place']>().toEqualTypeOf<'manifest' | 'installation'>();
  expectTypeOf<keyof Of<'beforeInstall'>['snapshots']>().toEqualTypeOf<'nodes'>();
  // @ts-expect-error: no such binding
  expect(defineHook({ beforeInstal: 1 }, nothing)).toBeDefined();
});
