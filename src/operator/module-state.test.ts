import { expect, test } from 'vitest';
import { isStarted, type ModuleState, mustRepeatStartup, NEW_MODULE } from './module-state.ts';

const stateWith = (fields: Partial<ModuleState>): ModuleState => ({ ...NEW_MODULE, ...fields });

test.each([
  [{}, false],
  [{ hooks: [] }, true],
  [{ phase: 'synchronization' }, true],
  [{ phase: 'ready' }, true],
] as const)('isStarted() of a state with %j: %s', (fields, expected) => {
  expect(isStarted(stateWith(fields))).toBe(expected);
});

test.each([
  [{}, false],
  [{ hasHelmFailed: true }, true],
  [{ hasHelmFailed: true, hasSucceeded: true }, false],
  [{ hasSucceeded: true }, false],
])('mustRepeatStartup() of a state with %j: %s', (fields, expected) => {
  expect(mustRepeatStartup(stateWith(fields))).toBe(expected);
});
