import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { ConvergeState } from './converge-state.ts';

test('the first converge begins once, and stays over once it is over', async () => {
  const state = new ConvergeState();
  expect(state.first).toBe('not-started');
  state.beginFirst();
  expect(state.first).toBe('running');
  state.finishFirst();
  await state.firstDone;
  state.beginFirst();
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
