import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { releaseHistory } from './release-history.ts';
import type { ReleaseRevision } from './release-store.ts';

const never = new AbortController().signal;

function revision(number: number, status: ReleaseRevision['status'] = 'superseded'): ReleaseRevision {
  return {
    release: 'web',
    revision: number,
    status,
    labels: {},
    objects: undefined,
    recordName: `r${number}`,
    uid: '',
    resourceVersion: '',
  };
}

function storeOf(revisions: readonly ReleaseRevision[]) {
  return {
    history: async () => revisions,
    payload: async ({ revision: number }: ReleaseRevision) => {
      if (number === 2) throw new OperatorError('HELM_RELEASE_CORRUPT', 'Cannot read it');
      return {
        manifest: `# ${number}`,
        chart: { name: 'web', version: `1.0.${number}` },
        values: {},
        info: { deployedAt: '2026-01-01T00:00:00Z', description: 'Upgrade complete' },
      };
    },
  };
}

test('revisions are listed with chart, time and what helm says, the newest first', async () => {
  const history = releaseHistory(storeOf([revision(1), revision(2), revision(3, 'deployed')]));
  const deployedAt = '2026-01-01T00:00:00Z';
  expect(await history.list('web', never)).toEqual([
    { revision: 3, status: 'deployed', deployedAt, chart: 'web-1.0.3', description: 'Upgrade complete' },
    { revision: 2, status: 'superseded', deployedAt: null, chart: '', description: 'Cannot read it' },
    { revision: 1, status: 'superseded', deployedAt, chart: 'web-1.0.1', description: 'Upgrade complete' },
  ]);
});

test('of a long history the last 20 revisions are read', async () => {
  const all = Array.from({ length: 50 }, (_, index) => revision(index + 3));
  const list = await releaseHistory(storeOf(all)).list('web', never);
  expect([list.length, list[0]?.revision, list.at(-1)?.revision]).toEqual([20, 52, 33]);
});

test('a revision has a manifest as long as helm keeps it', async () => {
  const history = releaseHistory(storeOf([revision(1)]));
  expect(await history.manifest('web', 1, never)).toBe('# 1');
  expect(await history.manifest('web', 4, never)).toBeUndefined();
});
