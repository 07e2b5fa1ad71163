import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dropOldestFailures, isFirstInstallPending } from './first-install.ts';
import { labelsWhenDeployed, labelsWhenMarkedFailed } from './record-metadata.ts';
import { RELEASE_STATUSES, type ReleaseStatus } from './recovery-table.ts';
import type { ReleaseRevision } from './release-store.ts';

const signal = new AbortController().signal;

class History {
  readonly removed: number[] = [];
  revisions: readonly ReleaseRevision[];
  readonly #hasUnreadable: boolean;

  constructor(revisions: readonly ReleaseRevision[], hasUnreadable = false) {
    this.revisions = revisions;
    this.#hasUnreadable = hasUnreadable;
  }

  async history(): Promise<readonly ReleaseRevision[]> {
    return await Promise.resolve(this.revisions);
  }

  async hasUnreadable(): Promise<boolean> {
    return await Promise.resolve(this.#hasUnreadable);
  }

  async remove({ revision }: ReleaseRevision): Promise<void> {
    this.removed.push(revision);
    this.revisions = await Promise.resolve(this.revisions.filter((other) => other.revision !== revision));
  }
}

function revisionOf(status: ReleaseStatus, revision: number, labels = {}): ReleaseRevision {
  const recordName = `sh.helm.release.v1.web.v${revision}`;
  return {
    release: 'web',
    revision,
    status,
    labels,
    objects: undefined,
    recordName,
    uid: 'u',
    resourceVersion: '1',
  };
}

const failures = (count: number) =>
  Array.from({ length: count }, (_none, index) => revisionOf('failed', index + 1));

test.each([
  ['no records', [], false],
  ['one failed install', failures(1), true],
  ['several of them', failures(3), true],
  ['an install that was left unfinished', [revisionOf('pending-install', 1)], true],
  ['a failed upgrade', [revisionOf('deployed', 1), revisionOf('failed', 2)], false],
  [
    'a deployed revision whose status was changed later',
    [
      revisionOf(
        'failed',
        1,
        labelsWhenDeployed({ revision: 1, inputDigest: 'digest', checksum: 'checksum' }),
      ),
    ],
    false,
  ],
  [
    'a failed upgrade over a superseded revision',
    [revisionOf('superseded', 1), revisionOf('failed', 2)],
    false,
  ],
  [
    'an uninstall that was left unfinished and marked failed',
    [revisionOf('failed', 1, labelsWhenMarkedFailed('uninstalling'))],
    false,
  ],
  [
    'an install that was left unfinished and marked failed',
    [revisionOf('failed', 1, labelsWhenMarkedFailed('pending-install'))],
    true,
  ],
])('isFirstInstallPending() for a release with %s', async (_case, revisions, expected) => {
  expect(await isFirstInstallPending(new History(revisions), 'web', signal)).toBe(expected);
});

test('isFirstInstallPending() is false when a record was set aside', async () => {
  expect(await isFirstInstallPending(new History(failures(1), true), 'web', signal)).toBe(false);
});

test('isFirstInstallPending() is false for every history with a revision that may have been deployed', async () => {
  const deployed = RELEASE_STATUSES.filter((status) => status !== 'failed' && status !== 'pending-install');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...RELEASE_STATUSES)),
      fc.constantFrom(...deployed),
      async (others, status) => {
        const history = [...others, status].map((one, index) => revisionOf(one, index + 1));
        expect(await isFirstInstallPending(new History(history), 'web', signal)).toBe(false);
      },
    ),
  );
});

test.each([
  [0, 12, []],
  [10, 9, []],
  [10, 10, [1]],
  [10, 12, [1, 2, 3]],
  [1, 3, [1, 2]],
])('dropOldestFailures() with a limit of %i leaves room for one more of %i', async (max, count, removed) => {
  const history = new History(failures(count));
  await dropOldestFailures(history, 'web', max, signal);
  expect(history.removed).toEqual(removed);
});
