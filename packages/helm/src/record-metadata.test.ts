import { expect, test } from 'vitest';
import {
  CHECKSUM_LABEL,
  formatObjects,
  HOLDER_LABEL,
  isOwned,
  labelsAtStart,
  labelsWhenDeployed,
  ownFacts,
  parseObjectList,
  renderedChecksum,
} from './record-metadata.ts';

const deployed = labelsWhenDeployed({ revision: 4, inputDigest: 'd1', checksum: 'c1' });

test('ownFacts() reads the labels of a revision we made', () => {
  const labels = { [HOLDER_LABEL]: 'h1', ...deployed };
  expect(ownFacts(labels, 4)).toEqual({
    checksum: 'c1',
    inputDigest: 'd1',
    holder: 'h1',
    uninstaller: undefined,
  });
});

test('ownFacts() ignores labels that helm carried over from our revision into the next', () => {
  expect(ownFacts(deployed, 5)).toEqual({
    checksum: undefined,
    inputDigest: undefined,
    holder: undefined,
    uninstaller: undefined,
  });
});

test('labelsAtStart() takes the old checksum away, where there can be one', () => {
  const facts = { revision: 2, inputDigest: 'd', holder: 'h', isUnmanaged: false };
  expect(labelsAtStart({ ...facts, isInstalled: true })).not.toHaveProperty(CHECKSUM_LABEL);
  expect(labelsAtStart({ ...facts, isInstalled: false })).toHaveProperty(CHECKSUM_LABEL, 'null');
});

test('isOwned() knows our releases and those of the original operator', () => {
  expect(isOwned(deployed)).toBe(true);
  expect(
    isOwned(
      labelsAtStart({ revision: 1, inputDigest: 'd', holder: 'h', isUnmanaged: false, isInstalled: true }),
    ),
  ).toBe(true);
  expect(isOwned({ moduleChecksum: 'abc' })).toBe(true);
  expect(isOwned({ owner: 'helm', name: 'web' })).toBe(false);
});

test('labels fit into what Kubernetes takes as a label', () => {
  const holder = '0123456789ab.4194304.0123456789ab';
  const digest = 'f'.repeat(40);
  const labels = {
    ...labelsAtStart({ revision: 2, inputDigest: digest, holder, isUnmanaged: false, isInstalled: false }),
    ...labelsWhenDeployed({ revision: 2, inputDigest: digest, checksum: renderedChecksum('x') }),
  };
  for (const [key, value] of Object.entries(labels)) {
    expect(key).toMatch(/^([a-z0-9.-]+\/)?[A-Za-z0-9._-]{1,63}$/);
    expect(value).toMatch(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
  }
});

const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: '', name: 'web' };

test('parseObjects() reads what formatObjects() wrote', () => {
  expect(parseObjectList(formatObjects([object]))).toEqual([object]);
  expect(parseObjectList(formatObjects([]))).toEqual([]);
});

test('formatObjects() gives nothing where it would be too long for an annotation', () => {
  expect(formatObjects(Array.from({ length: 3_000 }, () => object))).toBeUndefined();
});

test('parseObjects() does not trust what is not of its making', () => {
  for (const text of [undefined, 7, '', '{', '{}', '[1]', '[[1]]'])
    expect(parseObjectList(text)).toBeUndefined();
});
