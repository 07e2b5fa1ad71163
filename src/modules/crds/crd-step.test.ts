import { type Crd, versionsOf } from '@addon-operator/kube-client/crd';
import { expect, test } from 'vitest';
import { nextCrdStep } from './crd-changes.ts';

const VERSION = { name: 'v1', served: true, storage: true };
const CRD: Crd = {
  name: 'gadgets.example.com',
  labels: {},
  annotations: {},
  spec: { names: { plural: 'gadgets', kind: 'Gadget' }, versions: [VERSION] },
};
/** Without a version: the file decides. */
const WEB = { module: 'web', version: undefined };
const CURRENT = { metadata: { name: CRD.name }, spec: CRD.spec, status: { storedVersions: ['v1'] } };

test('nextCrdStep() creates what is missing, replaces what differs and keeps what is the same', () => {
  expect(nextCrdStep(undefined, CRD, {}, WEB)).toMatchObject({ type: 'create', body: { spec: CRD.spec } });
  expect(nextCrdStep(CURRENT, CRD, {}, WEB)).toEqual({ type: 'keep' });
  expect(nextCrdStep(CURRENT, CRD, { a: 'b' }, WEB)).toMatchObject({
    type: 'replace',
    body: { metadata: { name: CRD.name, labels: { a: 'b' } } },
  });
});

test('nextCrdStep() takes stored versions that are gone from the status before anything else', () => {
  const current = { ...CURRENT, status: { storedVersions: ['v0', 'v1'] } };
  expect(nextCrdStep(current, CRD, { a: 'b' }, WEB)).toEqual({
    type: 'drop-stored-versions',
    body: { ...current, status: { storedVersions: ['v1'] } },
  });
});

test('nextCrdStep() refuses a CRD that is being deleted, and one whose stored version is gone from the file', () => {
  const deleted = { ...CURRENT, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
  expect(nextCrdStep(deleted, CRD, {}, WEB)).toMatchObject({
    type: 'refuse',
    reason: expect.stringContaining('being deleted'),
  });
  const other = { ...CRD, spec: { ...CRD.spec, versions: [{ ...VERSION, name: 'v2' }] } };
  expect(nextCrdStep(CURRENT, other, {}, WEB)).toMatchObject({
    type: 'refuse',
    reason: expect.stringContaining('version v1 is missing in the file'),
  });
});

const V2 = { name: 'v2', served: true, storage: true };
const BOTH = { ...CRD, spec: { ...CRD.spec, versions: [{ ...VERSION, storage: false }, V2] } };
const of = (version: string, module = 'web') => ({ module, version });

/** What is in the cluster after a version of a module has applied its file. */
function applied(crd: Crd, origin: ReturnType<typeof of>): Readonly<Record<string, unknown>> {
  const step = nextCrdStep(undefined, crd, {}, origin);
  const body = step.type === 'create' ? step.body : {};
  return { ...body, status: { storedVersions: versionsOf(crd.spec).map(({ name }) => name) } };
}

test('nextCrdStep() keeps what a newer version of the module has applied, where the older one would take something away', () => {
  const current = applied(BOTH, of('1.1.0'));
  expect(nextCrdStep(current, CRD, {}, of('1.0.0'))).toEqual({
    type: 'keep',
    kept: 'it stays as version 1.1.0 of the module has applied it: that of 1.0.0 lacks version v2',
  });
  // A newer version of the module may take something away.
  expect(nextCrdStep(current, CRD, {}, of('1.2.0-rc.1'))).toMatchObject({ type: 'refuse' });
  expect(nextCrdStep(current, CRD, {}, of('1.0.0', 'dns'))).toMatchObject({ type: 'refuse' });
  expect(nextCrdStep(current, CRD, {}, WEB)).toMatchObject({ type: 'refuse' });
});

test('nextCrdStep() lets an older version of the module add, and remembers the newer one', () => {
  const current = applied(CRD, of('1.1.0'));
  const added = { ...CRD, spec: { ...CRD.spec, versions: [VERSION, { ...V2, storage: false }] } };
  expect(nextCrdStep(current, added, {}, of('1.0.0'))).toMatchObject({
    type: 'replace',
    body: { metadata: { annotations: { 'addon-operator.io/applied-from': 'web 1.1.0' } } },
  });
});

test('nextCrdStep() refuses an older version of the module whose versions of the CRD are not served any more', () => {
  const onlyV2 = { ...CRD, spec: { ...CRD.spec, versions: [V2] } };
  const step = nextCrdStep(applied(onlyV2, of('1.1.0')), CRD, {}, of('1.0.0'));
  expect(step).toMatchObject({
    type: 'refuse',
    reason: expect.stringMatching(/serves v2, but version 1\.0\.0 has v1.*to fix: /u),
  });
});

test('nextCrdStep() notes which version applied a CRD, without a contest of two modules with the same one', () => {
  const current = applied(CRD, of('1.0.0'));
  const annotated = (text: string) => ({
    type: 'replace',
    body: { metadata: { annotations: { 'addon-operator.io/applied-from': text } } },
  });
  expect(nextCrdStep(current, CRD, {}, of('1.0.0'))).toEqual({ type: 'keep' });
  expect(nextCrdStep(current, CRD, {}, of('0.9.0'))).toEqual({ type: 'keep' });
  expect(nextCrdStep(current, CRD, {}, of('1.1.0'))).toMatchObject(annotated('web 1.1.0'));
  expect(nextCrdStep(current, CRD, {}, of('2.0.0', 'dns'))).toEqual({ type: 'keep' });
  expect(nextCrdStep(CURRENT, CRD, {}, of('1.0.0'))).toMatchObject(annotated('web 1.0.0'));
  const changed = { ...CRD, spec: { ...CRD.spec, scope: 'Cluster' } };
  expect(nextCrdStep(current, changed, {}, of('0.1.0', 'dns'))).toMatchObject(annotated('dns 0.1.0'));
});
