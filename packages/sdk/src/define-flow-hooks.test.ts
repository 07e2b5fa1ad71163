import { expect, test } from 'vitest';
import { defineFlowHooks } from './define-flow-hooks.ts';
import type { FlowHooks } from './flow-hooks.ts';

test('a definition says at which places its hooks are called', () => {
  const { type, description, methods } = defineFlowHooks((hooks) =>
    hooks
      .registerHook(() => undefined, 'Start', 'End')
      .registerHookSetup({ hook: () => undefined, hookTypes: ['BeforeDelete'] }),
  );
  expect(type).toBe('flow-hooks');
  expect(description).toEqual({ hooks: [{ types: ['Start', 'End'] }, { types: ['BeforeDelete'] }] });
  expect(Object.keys(methods)).toEqual(['0', '1']);
});

test('who keeps the registry cannot register later, and no hook can register after a wait', () => {
  const kept: FlowHooks[] = [];
  defineFlowHooks((hooks) => kept.push(hooks));
  expect(() => kept[0]?.registerHook(() => undefined, 'Start')).toThrow(/only while their file is loaded/);
  expect(() => defineFlowHooks(async () => undefined)).toThrow(/not by an async function/);
});
