import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testHook } from 'addon-operator/sdk/testing';
import inventory from '../modules/001-inventory/hooks/inventory.ts';

await test('ConfigMaps are counted by namespace', async () => {
  const outcome = await testHook(inventory, {
    contexts: [
      {
        binding: 'beforeHelm',
        snapshots: {
          counted: [{ filterResult: 'shop' }, { filterResult: 'blog' }, { filterResult: 'shop' }],
        },
      },
    ],
  });
  assert.deepEqual(outcome.values, [{ op: 'add', path: '/inventory/counts', value: { blog: 1, shop: 2 } }]);
  assert.equal(outcome.metrics.length, 2);
});

await test('without any the counts are empty', async () => {
  const outcome = await testHook(inventory, {
    contexts: [{ binding: 'beforeHelm', snapshots: { counted: [] } }],
  });
  assert.deepEqual(outcome.values, [{ op: 'add', path: '/inventory/counts', value: {} }]);
});
