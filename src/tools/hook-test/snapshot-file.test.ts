import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pictureOf } from './picture.ts';
import { SnapshotFile } from './snapshot-file.ts';

const PLACE = { index: 0, title: 'start' };
const PICTURE = { runs: [{ binding: 'pods', output: ['a'] }], values: { web: { size: 1 } } };

function stored(picture: unknown): string {
  const file = new SnapshotFile(undefined, true);
  file.compare('one', PLACE, picture);
  return file.updated(true) ?? '';
}

describe('a snapshot', () => {
  test('that is not stored differs, and is shown', () => {
    expect(new SnapshotFile(undefined, false).compare('one', PLACE, PICTURE)).toEqual([
      expect.objectContaining({ actual: PICTURE, message: expect.stringContaining('not stored yet') }),
    ]);
  });

  test('differs in the branches that differ only', () => {
    const file = new SnapshotFile(stored(PICTURE), false);
    const changed = { ...PICTURE, values: { web: { size: 2 }, new: true } };
    expect(file.compare('one', PLACE, changed)).toEqual([
      { path: ['snapshot', 'values', 'web', 'size'], expected: 1, actual: 2 },
      { path: ['snapshot', 'values', 'new'], expected: undefined, actual: true },
    ]);
  });

  test('is as it was stored, whatever it holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (picture) => {
        expect(new SnapshotFile(stored(picture), false).compare('one', PLACE, picture)).toEqual([]);
      }),
    );
  });

  test('that no step compares is obsolete, and goes when all cases were run', () => {
    const text = stored(PICTURE);
    expect(new SnapshotFile(text, false).obsolete).toEqual(['one > step 1, start']);
    expect(new SnapshotFile(text, true).updated(true)).toBe('');
    expect(new SnapshotFile(text, true).updated(false)).toBeUndefined();
  });

  test('has names in place of what the API server makes up, the same value by the same name', async () => {
    const uid = '7c5f2f0e-7a7e-4a6c-9d8a-0f6f2a3b4c5d';
    const metadata = {
      uid,
      resourceVersion: '7',
      creationTimestamp: '2026-05-01T10:00:00Z',
      managedFields: [1],
    };
    const run = { binding: 'pods', operations: [], metrics: [], output: [] };
    const facts = { changes: [], errors: [], requests: [] };
    const contexts = [{ object: { metadata }, owner: uid }];
    const world = { object: () => Promise.resolve(undefined), values: () => ({}), configValues: () => ({}) };
    expect(await pictureOf({ ...facts, runs: [{ ...run, contexts }] }, world)).toEqual({
      runs: [
        {
          binding: 'pods',
          contexts: [
            {
              object: {
                metadata: { uid: '<uid-1>', resourceVersion: '<version-1>', creationTimestamp: '<time-1>' },
              },
              owner: '<uid-1>',
            },
          ],
        },
      ],
    });
  });
});
