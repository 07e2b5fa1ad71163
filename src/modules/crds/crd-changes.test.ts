import type { Crd } from '@addon-operator/kube-client/crd';
import { expect, test } from 'vitest';
import { changeOfCrd, newCrd } from './crd-changes.ts';

const CRD: Crd = {
  name: 'gadgets.example.com',
  labels: { from: 'file' },
  annotations: {},
  spec: { group: 'example.com', names: { plural: 'gadgets', kind: 'Gadget' }, versions: [{ name: 'v1' }] },
};
const WEB = { module: 'web', version: undefined };
const EXTRA = { heritage: 'addon-operator' };

/** As the API server returns it. */
const CURRENT = {
  metadata: {
    name: CRD.name,
    labels: { from: 'file', heritage: 'addon-operator', theirs: 'x' },
    resourceVersion: '1',
  },
  spec: {
    ...CRD.spec,
    names: { plural: 'gadgets', kind: 'Gadget', singular: 'gadget', listKind: 'GadgetList' },
    conversion: { strategy: 'None' },
  },
  status: { storedVersions: ['v1'] },
};

test('newCrd() has the extra labels', () => {
  expect(newCrd(CRD, EXTRA, WEB)).toMatchObject({ metadata: { labels: { from: 'file', ...EXTRA } } });
});

test('changeOfCrd() finds no difference in what the API server fills in', () => {
  expect(changeOfCrd(CURRENT, CRD, EXTRA, WEB)).toEqual({
    storedVersions: undefined,
    object: undefined,
    droppedStorage: undefined,
  });
});

test('changeOfCrd() takes the spec from the file, but keeps the conversion and what others have added', () => {
  const conversion = { strategy: 'Webhook' };
  const current = { ...CURRENT, spec: { ...CURRENT.spec, conversion } };
  const wanted = { ...CRD, spec: { ...CRD.spec, conversion: { strategy: 'None' }, scope: 'Cluster' } };
  expect(changeOfCrd(current, wanted, EXTRA, WEB).object).toMatchObject({
    metadata: { labels: { theirs: 'x' }, resourceVersion: '1' },
    spec: { scope: 'Cluster', conversion },
  });
});

test('changeOfCrd() names the stored versions that are left', () => {
  const current = { ...CURRENT, status: { storedVersions: ['v1alpha1', 'v1'] } };
  expect(changeOfCrd(current, CRD, EXTRA, WEB)).toMatchObject({ storedVersions: ['v1'], object: undefined });
});

test('changeOfCrd() names the version that objects are stored in when the file has it no more', () => {
  const versions = [{ name: 'v0' }, { name: 'v1', storage: true }];
  const current = { ...CURRENT, spec: { ...CURRENT.spec, versions } };
  const dropping = { ...CRD, spec: { ...CRD.spec, versions: [{ name: 'v2', storage: true }] } };
  expect(changeOfCrd(current, dropping, EXTRA, WEB).droppedStorage).toBe('v1');
  expect(changeOfCrd(current, CRD, EXTRA, WEB).droppedStorage).toBeUndefined();
});
