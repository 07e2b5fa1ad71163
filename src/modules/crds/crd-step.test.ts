import type { Crd } from '@addon-operator/kube-client/crd';
import { expect, test } from 'vitest';
import { nextCrdStep } from './crd-changes.ts';

const VERSION = { name: 'v1', served: true, storage: true };
const CRD: Crd = {
  name: 'gadgets.example.com',
  labels: {},
  annotations: {},
  spec: { names: { plural: 'gadgets', kind: 'Gadget' }, versions: [VERSION] },
};
const CURRENT = { metadata: { name: CRD.name }, spec: CRD.spec, status: { storedVersions: ['v1'] } };

test('nextCrdStep() creates what is missing, replaces what differs and keeps what is the same', () => {
  expect(nextCrdStep(undefined, CRD, {})).toMatchObject({ type: 'create', body: { spec: CRD.spec } });
  expect(nextCrdStep(CURRENT, CRD, {})).toEqual({ type: 'keep' });
  expect(nextCrdStep(CURRENT, CRD, { a: 'b' })).toMatchObject({
    type: 'replace',
    body: { metadata: { name: CRD.name, labels: { a: 'b' } } },
  });
});

test('nextCrdStep() takes stored versions that are gone from the status before anything else', () => {
  const current = { ...CURRENT, status: { storedVersions: ['v0', 'v1'] } };
  expect(nextCrdStep(current, CRD, { a: 'b' })).toEqual({
    type: 'drop-stored-versions',
    body: { ...current, status: { storedVersions: ['v1'] } },
  });
});

test('nextCrdStep() refuses a CRD that is being deleted, and one whose stored version is gone from the file', () => {
  const deleted = { ...CURRENT, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
  expect(nextCrdStep(deleted, CRD, {})).toMatchObject({
    type: 'refuse',
    reason: expect.stringContaining('being deleted'),
  });
  const other = { ...CRD, spec: { ...CRD.spec, versions: [{ ...VERSION, name: 'v2' }] } };
  expect(nextCrdStep(CURRENT, other, {})).toMatchObject({
    type: 'refuse',
    reason: expect.stringContaining('version v1 is missing in the file'),
  });
});
