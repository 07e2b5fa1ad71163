import { expect, test } from 'vitest';
import { createObjectFilter, type JqProgram } from './object-filter.ts';

const never = new AbortController().signal;
const spec = { name: 'items', keepFullObjects: false };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'a', name: 'one' } };

/** Fails so many times, then answers with the number of the try. */
function program(failures: number): JqProgram {
  let tries = 0;
  return {
    apply: () => {
      tries += 1;
      return tries > failures ? Promise.resolve([tries]) : Promise.reject(new Error(`failure ${tries}`));
    },
  };
}

test('createObjectFilter() overlooks one failure: a jq process may have died', async () => {
  expect(await createObjectFilter(spec, program(1))(object, never)).toEqual({ filterResult: 2 });
});

test('createObjectFilter() fails with the binding and the object when the program fails again', async () => {
  await expect(createObjectFilter(spec, program(2))(object, never)).rejects.toMatchObject({
    code: 'JQ_RUNTIME',
    message: 'Cannot apply jqFilter of binding "items" to ConfigMap a/one: failure 2',
  });
});

test('createObjectFilter() does not try again once the signal aborts', async () => {
  const controller = new AbortController();
  const stopping: JqProgram = {
    apply: () => {
      controller.abort(new Error('stopping'));
      return Promise.reject(new Error('jq was ended'));
    },
  };
  await expect(createObjectFilter(spec, stopping)(object, controller.signal)).rejects.toThrow('stopping');
});
