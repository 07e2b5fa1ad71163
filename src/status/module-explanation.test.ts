import { expect, test } from 'vitest';
import { explanationText, type ModuleExplanation, summaryText } from './module-explanation.ts';

const WEB: ModuleExplanation = {
  module: 'web',
  status: 'isolated',
  isEnabled: true,
  source: 'config-map',
  reason: 'webEnabled in the ConfigMap is true',
  position: { place: 2, of: 3, order: 10 },
  path: '/modules/010-web',
  version: '1.2.3',
  deletionPolicy: 'delete',
  drift: null,
  requires: [
    { name: 'db', range: '>=2', isOptional: false, status: 'ready' },
    { name: 'cache', range: null, isOptional: true, status: null },
  ],
  phase: 'helm',
  waitsFor: ['the end of its pause'],
  failure: { error: 'no\ndisk', attempts: 3, nextAttemptAt: '2026-05-31T18:00:00.000Z', isGivenUp: false },
  lastRun: { startedAt: '2026-05-31T17:59:00.000Z', durationMs: 120, result: 'failure' },
  nextReconcileAt: '2026-05-31T18:10:00.000Z',
  release: { revision: 4, isOwned: false },
  pause: { reason: 'disks', since: '2026-05-31T17:00:00.000Z', until: null, isOfAll: true },
};

test('explanationText() says one thing a line', () => {
  expect(explanationText(WEB)).toBe(`module       web
status       isolated
enabled      yes: webEnabled in the ConfigMap is true (config-map)
run order    2 of 3 (number 10)
directory    /modules/010-web
version      1.2.3
requires     db >=2: ready
requires     cache, optional: does not exist
on deletion  delete
phase        helm
waits for    the end of its pause
last error   no disk
attempts     3 failed, next at 2026-05-31T18:00:00.000Z
last run     failure, 2026-05-31T17:59:00.000Z, took 120 ms
next look    2026-05-31T18:10:00.000Z
release      revision 4, made by others
paused       with all modules since 2026-05-31T17:00:00.000Z, until it is resumed: disks
`);
});

test('explanationText() leaves out what there is not', () => {
  const text = explanationText({
    ...WEB,
    version: null,
    requires: [],
    waitsFor: [],
    failure: null,
    lastRun: null,
    nextReconcileAt: null,
    release: null,
    pause: null,
  });
  expect(text).toContain(
    'version      unknown\non deletion  delete\nphase        helm\nlast run     none\nrelease      none\n',
  );
});

test('explanationText() does not call a module enabled that no policy authorizes', () => {
  const text = explanationText({
    ...WEB,
    status: 'unauthorized',
    source: 'authorization',
    reason: 'not authorized: module.sig is missing',
  });
  expect(text).toContain('enabled      not run: not authorized: module.sig is missing (authorization)\n');
});

test('summaryText() is a table', () => {
  expect(summaryText([WEB, { ...WEB, module: 'dns-long', isEnabled: false, reason: 'off' }])).toBe(
    `MODULE    STATUS    ENABLED  REASON
web       isolated  yes      webEnabled in the ConfigMap is true
dns-long  isolated  no       off
`,
  );
});
