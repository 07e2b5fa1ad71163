import { expect, test } from 'vitest';
import { conversion, problemIn } from '../../test/support/hook-configs.ts';

test('parse() reads conversions, with the snapshots they include', async () => {
  const { conversion: bindings } = await conversion({ group: 'g', includeSnapshotsFrom: ['pods'] });
  expect(bindings).toEqual([
    {
      type: 'kubernetesCustomResourceConversion',
      name: 'conv',
      crdName: 'boxes.acme.io',
      conversions: [{ fromVersion: 'v1', toVersion: 'acme.io/v2' }],
      group: 'g',
      snapshotsFrom: [0, 1],
    },
  ]);
});

test.each([
  ['no name', { name: undefined }, 'kubernetesCustomResourceConversion.name is required'],
  ['no CRD', { crdName: undefined }, 'kubernetesCustomResourceConversion.crdName is required'],
  [
    'no steps',
    { conversions: [] },
    'kubernetesCustomResourceConversion.conversions should have at least 1 items',
  ],
  [
    'half a step',
    { conversions: [{ fromVersion: 'v1' }] },
    'kubernetesCustomResourceConversion.conversions.toVersion is required',
  ],
  ['an unknown key', { queue: 'q' }, 'kubernetesCustomResourceConversion.queue is a forbidden property'],
  [
    'a CRD without group',
    { crdName: 'boxes' },
    "invalid kubernetesCustomResourceConversion config [0]: crdName is invalid: 'boxes', expected '<plural>.<group>'",
  ],
  [
    'a version with two slashes',
    { conversions: [{ fromVersion: 'a/b/c', toVersion: 'v1' }] },
    "conversions[0]: 'a/b/c' is invalid, expected 'version' or 'group/version'",
  ],
  [
    'an unknown snapshot',
    { includeSnapshotsFrom: ['nope'] },
    "invalid kubernetesCustomResourceConversion config [0]: includeSnapshotsFrom: 'nope' binding name not found",
  ],
])('parse() refuses %s', async (_what, fields, problem) => {
  expect(await problemIn(conversion(fields))).toContain(problem);
});
