import { expect, test } from 'vitest';
import { type CrdOfFiles, crdsForbid, type LiveCrd } from './crds-forbid.ts';

const NAME = 'widgets.example.com';
const live = (...storedVersions: readonly string[]): readonly LiveCrd[] => [{ name: NAME, storedVersions }];
const files = (...versions: readonly string[]): readonly CrdOfFiles[] => [{ name: NAME, versions }];

test.each<readonly [string, readonly LiveCrd[], readonly CrdOfFiles[]]>([
  ['stored versions that the files know', live('v1'), files('v1alpha1', 'v1')],
  ['a CRD that is not in the cluster', [], files('v1')],
  ['a CRD that the files do not have', live('v2'), []],
  ['a CRD without objects', live(), files('v1')],
])('%s forbid nothing', (_name, inCluster, ofFiles) => {
  expect(crdsForbid(inCluster, ofFiles)).toEqual([]);
});

test('a stored version that the files do not know is named', () => {
  expect(crdsForbid(live('v1', 'v2'), files('v1'))).toEqual([
    expect.stringContaining(
      'objects of CRD widgets.example.com may be stored in v2, and the files know v1 only',
    ),
  ]);
});
