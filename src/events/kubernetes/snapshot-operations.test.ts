import { expect, test } from 'vitest';
import { OperationCounter } from './snapshot-operations.ts';

test('operations are counted since the start, and anew for each run', () => {
  const counter = new OperationCounter();
  counter.note('added', 3);
  counter.note('modified');
  counter.startExecution();
  counter.note('deleted');
  counter.note('cleaned', 2);
  expect(counter.read(0)).toEqual({
    sinceLastExecution: { count: 0, added: 0, deleted: 1, modified: 0, cleaned: 2 },
    sinceStart: { count: 0, added: 3, deleted: 1, modified: 1, cleaned: 2 },
  });
});
