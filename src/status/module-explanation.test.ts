import { expect, test } from 'vitest';
import { readySummary } from '../../test/support/module-explanations.ts';
import {
  explanationText,
  type ModuleExplanation,
  type ModuleSummary,
  summaryText,
} from './module-explanation.ts';

const WEB: ModuleExplanation = {
  module: 'web',
  status: 'isolated',
  since: '2026-01-01T00:00:00.000Z',
  isEnabled: true,
  source: 'config-map',
  reason: 'webEnabled in the ConfigMap is true',
  position: { place: 2, of: 3, order: 10 },
  path: '/modules/010-web',
  version: '1.2.3',
  deletionPolicy: 'delete',
  drift: null,
  requires: [
    { name: 'db', range: '>=2', isOptional: false, status: 'ready', unmet: null },
    { name: 'cache', range: null, isOptional: true, status: null, unmet: null },
  ],
  phase: 'Failed',
  step: 'helm',
  waitsFor: ['the end of its pause'],
  causes: [],
  failure: { error: 'no\ndisk', attempts: 3, nextAttemptAt: '2026-05-31T18:00:00.000Z', isGivenUp: false },
  lastRun: { startedAt: '2026-05-31T17:59:00.000Z', durationMs: 120, result: 'failure' },
  nextReconcileAt: '2026-05-31T18:10:00.000Z',
  release: { revision: 4, isOwned: false },
  pause: { reason: 'disks', since: '2026-05-31T17:00:00.000Z', until: null, isOfAll: true },
};

test('explanationText() says one thing a line', () => {
  expect(explanationText(WEB)).toBe(`module       web
status       isolated
since        2026-01-01T00:00:00.000Z
enabled      yes: webEnabled in the ConfigMap is true (config-map)
run order    2 of 3 (number 10)
directory    /modules/010-web
version      1.2.3
requires     db >=2: ready
requires     cache, optional: does not exist
on deletion  delete
phase        Failed
run step     helm
waits for    the end of its pause
last error   no disk
attempts     3 failed, next at 2026-05-31T18:00:00.000Z
last run     failure, 2026-05-31T17:59:00.000Z, took 120 ms
next run     2026-05-31T18:10:00.000Z
release      revision 4, not created by this operator
paused       with all modules since 2026-05-31T17:00:00.000Z, until it is resumed: disks
drift        not watched
`);
});

test('explanationText() names the code of the last error', () => {
  const failure = {
    error: 'no disk',
    code: 'HOOK_FAILED',
    attempts: 1,
    nextAttemptAt: null,
    isGivenUp: false,
  } as const;
  expect(explanationText({ ...WEB, failure })).toMatch(/^attempts +1 failed\nerror code +HOOK_FAILED\n/m);
});

test('explanationText() does not say that nothing was changed where that cannot be reported', () => {
  const uncompared = [{ resource: '/Secret/web', error: 'forbidden' }];
  const text = explanationText({ ...WEB, drift: { mode: 'heal', objects: [], uncompared } });
  expect(text).toMatch(/^drift +\/Secret\/web cannot be compared: forbidden$/m);
  expect(text).not.toContain('none (heal)');
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
    'version      unknown\non deletion  delete\nphase        Failed\nrun step     helm\nlast run     none\nrelease      none\n',
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

const READY = readySummary('web');

test('summaryText() is a table', () => {
  expect(summaryText([READY, { ...READY, module: 'dns-long', isEnabled: false, reason: 'off' }])).toBe(
    `MODULE    STATUS  ENABLED  REASON
web       ready   yes      webEnabled in the ConfigMap is true
dns-long  ready   no       off
`,
  );
});

test('summaryText() shows what keeps a module that is ready from following changes', () => {
  expect(summaryText([{ ...READY, heldUpBy: 'hook a.sh has been running' }])).toContain(
    'web     ready   yes      webEnabled in the ConfigMap is true  hook a.sh has been running\n',
  );
});

test('summaryText() shows what fails, waits and is paused, each in a column that is there when it is needed', () => {
  const failing: ModuleSummary = {
    ...READY,
    reason: 'on',
    lastError: `no\n\u001b[31mdisk ${'x'.repeat(100)}`,
    nextTryAt: '2026-05-31T18:00:00.000Z',
  };
  const waiting: ModuleSummary = {
    ...failing,
    lastError: null,
    nextTryAt: null,
    waitsFor: ['web in front of it', 'the end of its pause'],
    paused: { reason: 'disks', until: null },
  };
  const cut = `no \\u001b[31mdisk ${'x'.repeat(61)}…`;
  const { length } = cut;
  expect(length).toBe(80);
  expect(summaryText([failing, { ...waiting, module: 'dns' }])).toBe(
    `MODULE  STATUS  ENABLED  REASON  WAITS FOR                        ${'LAST ERROR'.padEnd(length)}  NEXT TRY                  PAUSED
web     ready   yes      on                                       ${cut}  2026-05-31T18:00:00.000Z
dns     ready   yes      on      web in front of it (and 1 more)  ${' '.repeat(length)}                            until it is resumed: disks
`,
  );
  expect(summaryText([{ ...READY, paused: { reason: 'r', until: '2026-05-31T18:00:00.000Z' } }])).toContain(
    'REASON                               PAUSED\n',
  );
});

test('explanationText() leaves out what a cause says already, and keeps what else is waited for', () => {
  const text = (causes: ModuleExplanation['causes']) =>
    explanationText({
      ...WEB,
      waitsFor: ['web in front of it', 'module db, which fails'],
      waits: [
        { type: 'queue', text: 'web in front of it' },
        { type: 'other', text: 'module db, which fails' },
      ],
      causes,
    });
  const cause = { node: 'queue', reason: 'QueueBlocked', text: 'web fails', isStalled: true } as const;
  expect(text([])).toMatch(/^waits for +web in front of it\nwaits for +module db/mu);
  expect(text([{ ...cause, until: null, ref: null, remedy: null }])).not.toContain('web in front of it');
  expect(text([{ ...cause, until: null, ref: null, remedy: null }])).toMatch(/^waits for +module db/mu);
});
