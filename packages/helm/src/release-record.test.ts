import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { decodeRelease, encodeRelease, releasePayload, releaseStatus, withStatus } from './release-record.ts';

const release = {
  name: 'web',
  version: 3,
  info: {
    status: 'pending-upgrade',
    first_deployed: '2026-01-01T00:00:00Z',
    last_deployed: '2026-01-02T00:00:00Z',
    description: 'Upgrade complete',
  },
  chart: { metadata: { name: 'web-chart', version: '1.2.3' } },
  config: { web: { replicas: 2 } },
  manifest: '---\nkind: ConfigMap\n',
};

test('a release survives encoding and decoding', async () => {
  expect(await decodeRelease(await encodeRelease(release), 'x')).toEqual(release);
});

test('decodeRelease() keeps integers that a double cannot hold', async () => {
  const json = '{"name":"web","info":{},"config":{"id":12345678901234567890}}';
  const decoded = await decodeRelease(Buffer.from(json).toString('base64'), 'x');
  expect(JSON.stringify(decoded)).toBe(json);
});

test.each([
  ['no base64 of anything', 'not a release'],
  ['an empty record', ''],
  ['gzip that is cut off', 'H4sIAAAAAAAA/6pWykvMTVWyUkpMUqoFAAAA'],
  ['a release that helm breaks down on', Buffer.from('{"name":"web"}').toString('base64')],
  ['JSON that is no release', Buffer.from('[1]').toString('base64')],
])('decodeRelease() names the record of %s', async (_case, encoded) => {
  await expect(decodeRelease(encoded, 'sh.helm.release.v1.web.v3')).rejects.toMatchObject({
    code: 'HELM_RELEASE_CORRUPT',
    message: expect.stringContaining('"sh.helm.release.v1.web.v3"'),
  });
});

test('releasePayload() picks manifest, chart and values', () => {
  expect(releasePayload(release)).toEqual({
    manifest: '---\nkind: ConfigMap\n',
    chart: { name: 'web-chart', version: '1.2.3' },
    values: { web: { replicas: 2 } },
    info: { deployedAt: '2026-01-02T00:00:00Z', description: 'Upgrade complete' },
  });
  expect(releasePayload({})).toEqual({
    manifest: '',
    chart: { name: '', version: '' },
    values: {},
    info: { deployedAt: '', description: '' },
  });
});

test('withStatus() changes status and description alone', () => {
  expect(withStatus(release, 'failed', 'left unfinished')).toEqual({
    ...release,
    info: { ...release.info, status: 'failed', description: 'left unfinished' },
  });
});

test('releaseStatus() reads any case, and calls everything else unknown', () => {
  expect(['Deployed', 'pending-install', 'gone', undefined].map(releaseStatus)).toEqual([
    'deployed',
    'pending-install',
    'unknown',
    'unknown',
  ]);
});
