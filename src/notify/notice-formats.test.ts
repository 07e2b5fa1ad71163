import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findExecutable } from '@addon-operator/process/executable-file';
import { expect, test } from 'vitest';
import { commandBlocksOf } from '../../test/docs/command-blocks.ts';
import { writeTree } from '../../test/support/world-files.ts';
import { noticeBody, signatureOf } from './notice-formats.ts';
import type { Notice } from './notices.ts';

const ORIGIN = { cluster: 'prod', namespace: 'addons' };
const PROBLEM: Notice = {
  id: '0f'.repeat(16),
  type: 'problem',
  module: 'web',
  status: 'failing',
  since: '2026-01-01T00:01:00.000Z',
  problemSince: '2026-01-01T00:00:00.000Z',
  message: 'helm failed',
  remedy: 'addon-operator queue retry main',
  version: '1.2.3',
  revision: 7,
};
const RESOLVED: Notice = {
  ...PROBLEM,
  type: 'resolved',
  status: 'ready',
  message: 'the problem has ended',
  remedy: null,
};

test('a webhook gets a CloudEvent', () => {
  expect(noticeBody('webhook', PROBLEM, ORIGIN)).toEqual({
    specversion: '1.0',
    id: PROBLEM.id,
    source: '/clusters/prod/namespaces/addons/addon-operator',
    type: 'io.addon-operator.module.problem',
    subject: 'web',
    time: '2026-01-01T00:01:00.000Z',
    datacontenttype: 'application/json',
    data: {
      cluster: 'prod',
      namespace: 'addons',
      type: 'problem',
      module: 'web',
      status: 'failing',
      since: '2026-01-01T00:01:00.000Z',
      problemSince: '2026-01-01T00:00:00.000Z',
      message: 'helm failed',
      remedy: 'addon-operator queue retry main',
      version: '1.2.3',
      revision: 7,
    },
  });
  expect(noticeBody('webhook', PROBLEM, { cluster: 'a/b', namespace: 'addons' })).toMatchObject({
    source: '/clusters/a%2Fb/namespaces/addons/addon-operator',
  });
  expect(noticeBody('webhook', PROBLEM, { cluster: '', namespace: 'addons' })).toMatchObject({
    source: '/namespaces/addons/addon-operator',
  });
});

test('an Alertmanager gets an alert with the same labels for each state of a module, which ends when it is resolved', () => {
  const labels = {
    alertname: 'AddonOperatorModuleProblem',
    module: 'web',
    namespace: 'addons',
    cluster: 'prod',
  };
  expect(noticeBody('alertmanager', PROBLEM, ORIGIN)).toEqual([
    {
      labels,
      annotations: {
        summary: 'module web is failing',
        description: 'helm failed',
        status: 'failing',
        id: PROBLEM.id,
        remedy: 'addon-operator queue retry main',
      },
      startsAt: '2026-01-01T00:00:00.000Z',
    },
  ]);
  expect(noticeBody('alertmanager', RESOLVED, ORIGIN)).toMatchObject([
    { labels, startsAt: '2026-01-01T00:00:00.000Z', endsAt: '2026-01-01T00:01:00.000Z' },
  ]);
});

test('Slack gets text in which errors cannot mention people, link, or turn the direction of the text', () => {
  const notice = { ...PROBLEM, message: '<!channel> & <https://evil|here>\nline 2 \u202e\u0007' };
  expect(noticeBody('slack', notice, ORIGIN)).toEqual({
    text: [
      ':red_circle: *web* is failing since 2026-01-01T00:01:00.000Z (prod/addons)',
      '&lt;!channel&gt; &amp; &lt;https://evil|here&gt;',
      String.raw`line 2 \u202e\u0007`,
      'to fix: addon-operator queue retry main',
    ].join('\n'),
  });
  expect(noticeBody('slack', RESOLVED, { cluster: '', namespace: 'addons' })).toEqual({
    text: ':large_green_circle: *web* is ready since 2026-01-01T00:01:00.000Z (addons)\nthe problem has ended',
  });
});

test.each(['webhook', 'slack', 'alertmanager'] as const)(
  'an error of a megabyte is cut for a %s',
  (format) => {
    const body = JSON.stringify(noticeBody(format, { ...PROBLEM, message: 'x'.repeat(1_000_000) }, ORIGIN));
    expect(body.length).toBeLessThan(3_000);
    expect(body).toContain('x…x');
  },
);

test('the signature is that of RFC 2104 with SHA-256 over the bytes of the body', () => {
  // Test case 2 of RFC 4231.
  expect(signatureOf('Jefe', 'what do ya want for nothing?')).toBe(
    'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
  const expected = createHmac('sha256', 'k').update(Buffer.from('{"a":"ö"}', 'utf8')).digest('hex');
  expect(signatureOf('k', '{"a":"ö"}')).toBe(`sha256=${expected}`);
});

const hasOpenssl = findExecutable('openssl', process.env['PATH'] ?? '') !== undefined;

test.runIf(hasOpenssl)('the commands of the documentation accept a signature, and no other one', async () => {
  const [block] = commandBlocksOf('docs/notifications.md');
  const [secret, body] = ['a-secret-of-the-receiver', JSON.stringify(noticeBody('webhook', PROBLEM, ORIGIN))];
  const directory = await mkdtemp(join(tmpdir(), 'signature-'));
  try {
    await writeTree(directory, { hmac: `${secret}\n`, 'body.json': body });
    const check = (signature: string): string =>
      execFileSync('sh', ['-c', `${block?.text ?? ''}true`], {
        cwd: directory,
        env: { ...process.env, SIGNATURE: signature },
        encoding: 'utf8',
      });
    expect(check(signatureOf(secret, body))).toBe('genuine\n');
    expect(check(signatureOf(secret, `${body} `))).toBe('');
  } finally {
    await rm(directory, { recursive: true });
  }
});
