import { expect, test } from 'vitest';
import { name } from '../../test/support/operator-lab.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import { ModuleOperations } from './module-operations.ts';

const WEB = name('web');

function operationsWith(annotation: ModuleOperation) {
  let word: ModuleOperation | undefined = annotation;
  let isClaimed = false;
  const operations = new ModuleOperations({
    of: () => (isClaimed ? undefined : word),
    claim: () => {
      isClaimed = true;
    },
    taken: () => {
      word = undefined;
    },
  });
  return { operations, annotation: () => word };
}

test.each(['reconcile', 'force-reconcile'] as const)(
  'a %s that a command requests replaces an abort that an annotation requested before',
  (operation) => {
    const { operations, annotation } = operationsWith('abort');
    operations.request(WEB, operation);
    expect(annotation()).toBeUndefined();
    expect(operations.take(WEB)).toBe(operation);
    expect(operations.of(WEB)).toBeUndefined();
  },
);

test.each([
  { annotation: 'reconcile', command: 'abort' },
  { annotation: 'force-reconcile', command: 'reconcile' },
  { annotation: 'abort', command: 'abort' },
] as const)('the annotation $annotation stays beside the command $command', ({ annotation, command }) => {
  const { operations } = operationsWith(annotation);
  operations.request(WEB, command);
  expect(operations.take(WEB)).toBe(command);
  expect(operations.of(WEB)).toBe(annotation);
});
