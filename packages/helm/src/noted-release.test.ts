import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { notedReleases } from './noted-release.ts';
import type { ReleaseRevision } from './release-store.ts';

const signal = new AbortController().signal;

function revisionOf(
  release: string,
  revision: number,
  seconds: number,
  resourceVersion: string,
): ReleaseRevision {
  return {
    release,
    revision,
    status: 'deployed',
    labels: { modifiedAt: String(seconds) },
    objects: undefined,
    note: `${release} ${revision}`,
    recordName: `${release}.v${revision}`,
    uid: 'u',
    resourceVersion,
  };
}

const STORE = {
  noted: async () =>
    await Promise.resolve([
      revisionOf('a', 2, 20, '9'),
      revisionOf('a', 10, 30, '10'),
      revisionOf('b', 1, 30, '11'),
      revisionOf('c', 1, 40, '1'),
    ]),
  payload: async ({ release }: ReleaseRevision) => {
    if (release === 'c') throw new OperatorError('HELM_RELEASE_CORRUPT', 'broken');
    if (release === 'b') throw new Error('API server is away');
    return await Promise.resolve({
      manifest: '',
      chart: { name: '', version: '' },
      values: { a: 1 },
      info: { deployedAt: '', description: '' },
    });
  },
};

test('notedReleases() gives the newest revision of each release, the one written last first', async () => {
  const noted = await notedReleases(STORE, signal);
  expect(noted.map(({ note }) => note)).toEqual(['c 1', 'b 1', 'a 10']);
});

test('notedReleases() gives no values, when a record cannot be read', async () => {
  const [corrupt, away, sound] = await notedReleases(STORE, signal);
  expect(await corrupt?.values(signal)).toBeUndefined();
  await expect(away?.values(signal)).rejects.toThrow('API server is away');
  expect(await sound?.values(signal)).toEqual({ a: 1 });
});
