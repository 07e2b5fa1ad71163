import { NO_SPAN } from '@addon-operator/base/trace';
import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { ConvergeState } from './converge-state.ts';

const START = { atMs: 1, event: 'OperatorStartup' } as const;

test('a converge that is started over keeps its start until it ends', () => {
  const state = new ConvergeState();
  expect(state.end()).toBeUndefined();
  state.begin(START);
  state.begin({ atMs: 2, event: 'ReloadAllModules' });
  expect([state.end(), state.end()]).toEqual([{ ...START, span: NO_SPAN }, undefined]);
});

test('what could not be loaded is forgotten when changed files are loaded again', () => {
  const state = new ConvergeState();
  const modules = { what: 'modules', module: undefined, error: 'values.yaml:3: bad indentation' };
  state.addUnloaded(modules);
  state.addUnloaded({ ...modules, what: 'global hooks' });
  expect(state.unloaded).toEqual([modules, { ...modules, what: 'global hooks' }]);
  state.beginReload();
  expect(state.unloaded).toEqual([]);
});

test('the first converge begins once, and stays over once it is over', async () => {
  const state = new ConvergeState();
  expect(state.first).toBe('not-started');
  state.begin(START);
  expect(state.first).toBe('running');
  state.finishFirst();
  await state.firstDone;
  state.begin(START);
  expect(state.first).toBe('done');
});

test('tasks belong to the start of the operator until the first converge is over', () => {
  const state = new ConvergeState();
  expect(state.activation).toBe('OperatorStartup');
  state.finishFirst();
  expect(state.activation).toBe('');
});

test('activation names the start until the first converge is over', async () => {
  await using lab = await operatorLab([]);
  expect(lab.operator.converge.activation).toBe('OperatorStartup');
  await lab.converge();
  expect(lab.operator.converge.activation).toBe('');
});

test('a run that was left out during a pause follows once', () => {
  const state = new ConvergeState();
  state.deferRun('web' as never);
  expect([state.resumeRun('web' as never), state.resumeRun('web' as never)]).toEqual([true, false]);
  expect([...state.deferredRuns]).toEqual([]);
});
