import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { releaseHistory } from './release-history.ts';
import { packSource, sourceLabels } from './release-source.ts';
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

const SOURCE = packSource({ files: 'abc', version: '2.0.0', section: {} }, {});

function storeOf(revisions: readonly ReleaseRevision[], sources: ReadonlyMap<string, string> = new Map()) {
  return {
    history: async () => revisions,
    sources: async () => sources,
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

test('revisions are listed with version, chart, time and what helm says, the newest first', async () => {
  const history = releaseHistory(storeOf([revision(1), revision(2), revision(3, 'deployed')]));
  const deployedAt = '2026-01-01T00:00:00Z';
  const facts = { reason: '', files: null, hasSection: false, deployedAt, description: 'Upgrade complete' };
  expect(await history.list('web', never)).toEqual([
    { ...facts, revision: 3, status: 'deployed', outcome: 'running', version: '1.0.3', chart: 'web-1.0.3' },
    {
      ...facts,
      revision: 2,
      status: 'superseded',
      outcome: 'replaced',
      reason: 'Cannot read it',
      version: '',
      deployedAt: null,
      chart: '',
      description: 'Cannot read it',
    },
    {
      ...facts,
      revision: 1,
      status: 'superseded',
      outcome: 'replaced',
      version: '1.0.1',
      chart: 'web-1.0.1',
    },
  ]);
});

test('a revision whose place a rollback took says so, and a failed one stays failed', async () => {
  const said = [
    '',
    'Install complete',
    '',
    'failed: no quota',
    'Rollback to 1',
    'Upgrade complete',
    'Rollback to 4',
  ];
  const store = storeOf([
    revision(1),
    revision(3, 'failed'),
    revision(4),
    revision(5),
    revision(6, 'deployed'),
  ]);
  const payload = async (one: ReleaseRevision) => {
    const known = await store.payload(one);
    return { ...known, info: { ...known.info, description: said[one.revision] ?? '' } };
  };
  const list = await releaseHistory({ ...store, payload }).list('web', never);
  expect(list.map((one) => [one.revision, one.outcome, one.reason])).toEqual([
    [6, 'running', 'Rollback to 4'],
    [5, 'rolled-back', 'rolled back to revision 4'],
    [4, 'replaced', 'Rollback to 1'],
    [3, 'failed', 'failed: no quota'],
    [1, 'replaced', ''],
  ]);
});

test('what a revision was deployed from is read with it', async () => {
  const recorded = { ...revision(1), labels: sourceLabels(1, { files: 'abc' }) };
  const history = releaseHistory(storeOf([recorded], new Map([['r1', SOURCE]])));
  const [first] = await history.list('web', never);
  expect(first).toMatchObject({ version: '2.0.0', files: 'abc', hasSection: true, chart: 'web-1.0.1' });
  expect(await history.source('web', 1, never)).toMatchObject({ version: '2.0.0', section: {} });
  expect(await history.source('web', 2, never)).toBeUndefined();
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
