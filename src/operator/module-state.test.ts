import { expect, test } from 'vitest';
import { moduleFor } from '../../test/support/operator-lab.ts';
import { isStarted, type ModuleState, mustRepeatStartup, newModuleState } from './module-state.ts';

const stateWith = (fields: Partial<ModuleState>): ModuleState => ({
  ...newModuleState(moduleFor('web')),
  ...fields,
});

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
