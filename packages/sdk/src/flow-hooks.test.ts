import { expect, test } from 'vitest';
import { FlowHooks, type FlowHookType } from './flow-hooks.ts';

const first = (): undefined => undefined;
const second = (): undefined => undefined;

test('hooks are called at their places in the order they were registered, and calls can be chained', () => {
  const hooks = new FlowHooks()
    .registerHook(first, 'Start', 'End')
    .registerHookSetup({ hook: second, hookTypes: ['End'] });
  expect(hooks.of('Start')).toEqual([first]);
  expect(hooks.of('End')).toEqual([first, second]);
  expect(hooks.of('BeforeDelete')).toEqual([]);
});

test('without places a hook has no effect', () => {
  expect(new FlowHooks().registerHook(first).entries).toEqual([]);
});

test('once sealed nothing can be registered any more', () => {
  const hooks = new FlowHooks().seal();
  expect(() => hooks.registerHook(first, 'Start')).toThrow(/only while their file is loaded/);
  expect(() => hooks.registerHookSetup({ hook: first, hookTypes: ['Start'] })).toThrow(/only while/);
});

test('what is no function, and a place that does not exist, is refused by name', () => {
  const hooks = new FlowHooks();
  expect(() => hooks.registerHook('x' as unknown as typeof first, 'Start')).toThrow(/must be a function/);
  expect(() => hooks.registerHook(first, 'BeforeLunch' as FlowHookType)).toThrow(
    /unknown type "BeforeLunch", expected one of Start, DuringResponsibilityCheck/,
  );
  expect(() => hooks.registerHook(first, 'BeforeReconcil' as FlowHookType)).toThrow(
    'unknown type "BeforeReconcil" (did you mean "BeforeReconcile"?), expected one of Start',
  );
});
