import { expect, test } from 'vitest';
import { kstatusOf, kstatusProblems, type ReadObject } from '../../test/support/kstatus.ts';
import { installStatus, sourceStatus } from './delivery-status.ts';
import type { InstallView, SourceView } from './delivery-view.ts';

const NOW = Date.parse('2026-11-02T12:00:00Z');
const version = { version: '1.0.0', digest: 'sha256:aa', atMs: NOW };
const source: SourceView = {
  name: 'lab',
  generation: 2,
  url: 'oci://lab',
  invalid: undefined,
  problem: undefined,
  lastSuccessMs: NOW,
  lastAttemptMs: NOW,
  modules: 3,
};
const install: InstallView = {
  name: 'web',
  generation: 2,
  source: 'lab',
  invalid: undefined,
  installed: version,
  lastGood: version,
  wanted: version,
  pending: undefined,
  failed: [],
  hasFailed: false,
  history: [],
  isUpdating: false,
  waitsFor: undefined,
  missing: undefined,
  problem: undefined,
  sourceProblem: undefined,
  notReady: undefined,
  disabled: undefined,
  isOrphan: false,
};
const pending = {
  type: 'pending',
  version: '1.1.0',
  digest: 'sha256:bb',
  reason: 'OutsideWindow',
  message: 'updates wait for a window',
  untilMs: NOW,
} as const;
const failed = [{ ...version, why: 'bad' }];
const notInstalled = { installed: undefined, lastGood: undefined };

function objectOf(status: unknown): ReadObject {
  return { metadata: { generation: 2 }, status: status as NonNullable<ReadObject['status']> };
}

const INSTALLS: readonly (readonly [string, Partial<InstallView>, string, string])[] = [
  ['it runs', {}, 'Current', 'Succeeded: 1.0.0 runs'],
  ['an update waits', { pending }, 'Current', 'Succeeded: 1.0.0 runs'],
  ['its source is away', { sourceProblem: 'connection refused' }, 'Current', 'Succeeded: 1.0.0 runs'],
  ['the module is not ready', { notReady: '0 of 1' }, 'InProgress', 'ModuleNotReady: 0 of 1'],
  [
    'a flag disables the module',
    {
      isUpdating: true,
      waitsFor: 'disabled',
      notReady: 'disabled',
      disabled: 'webEnabled in the ConfigMap is false',
    },
    'Current',
    'Disabled: 1.0.0 is in the store and does not run, because the module is disabled: webEnabled in the ConfigMap is false',
  ],
  [
    'a flag disables the module after its version has failed',
    { hasFailed: true, failed, disabled: 'webEnabled in the ConfigMap is false' },
    'Failed',
    'UpdateFailed: 1.0.0 has failed: bad',
  ],
  [
    'gates are observed',
    { isUpdating: true, waitsFor: '0 of 1' },
    'InProgress',
    'Updating: 1.0.0 is observed: 0 of 1',
  ],
  ['the version has failed', { hasFailed: true, failed }, 'Failed', 'UpdateFailed: 1.0.0 has failed: bad'],
  [
    'its files are nowhere',
    { missing: 'connection refused' },
    'Failed',
    'SourceUnavailable: connection refused; the module is neither run nor removed',
  ],
  ['the spec is invalid', { invalid: 'spec.order: bad' }, 'Failed', 'InvalidSpec: spec.order: bad'],
  [
    'nothing is installed yet',
    { ...notInstalled, wanted: undefined },
    'InProgress',
    'Progressing: its version is being looked up',
  ],
  [
    'the first version is unsigned',
    {
      ...notInstalled,
      pending: { ...pending, reason: 'Unverified', message: 'no signature', untilMs: undefined },
    },
    'Failed',
    'Unverified: 1.1.0 waits (Unverified): no signature',
  ],
  [
    'there is no such source',
    { ...notInstalled, sourceProblem: 'no source' },
    'Failed',
    'SourceNotReady: no source',
  ],
  [
    'the first installation fails',
    { ...notInstalled, problem: 'disk full' },
    'InProgress',
    'Failed: disk full',
  ],
];

test.each(INSTALLS)('installStatus() when %s', (_name, change, expected, message) => {
  const object = objectOf(installStatus({ ...install, ...change }, { before: undefined, nowMs: NOW }));
  expect(kstatusOf(object)).toBe(expected);
  expect(kstatusProblems(object)).toEqual([]);
  const ready = object.status?.conditions?.find(({ type }) => type === 'Ready') as unknown as Record<
    string,
    string
  >;
  expect(`${ready['reason']}: ${ready['message']}`).toBe(message);
});

const SOURCES: readonly (readonly [string, Partial<SourceView>, string])[] = [
  ['it was read', {}, 'Current'],
  ['it was never read', { lastSuccessMs: undefined }, 'InProgress'],
  ['it is away', { problem: 'connection refused' }, 'InProgress'],
  ['the spec is invalid', { invalid: 'spec.url: bad' }, 'Failed'],
];

test.each(SOURCES)('sourceStatus() when %s', (_name, change, expected) => {
  const object = objectOf(sourceStatus({ ...source, ...change }, { before: undefined, nowMs: NOW }));
  expect(kstatusOf(object)).toBe(expected);
  expect(kstatusProblems(object)).toEqual([]);
});

test('installStatus() shows versions, what waits, failures and history', () => {
  const history = [
    { version: '1.0.0', digest: 'sha256:aa', atMs: NOW, outcome: 'running', hasValues: true },
  ] as const;
  const status = installStatus({ ...install, pending, failed, history }, { before: undefined, nowMs: NOW });
  const at = '2026-11-02T12:00:00Z';
  expect(status).toMatchObject({
    observedGeneration: 2,
    installed: { version: '1.0.0', digest: 'sha256:aa', at },
    pending: { version: '1.1.0', reason: 'OutsideWindow', until: at },
    failed: [{ version: '1.0.0', digest: 'sha256:aa', at, why: 'bad' }],
    history: [{ version: '1.0.0', at, outcome: 'running' }],
  });
});

test('a condition keeps its time until its status changes', () => {
  const before = installStatus(install, { before: undefined, nowMs: NOW });
  const after = installStatus({ ...install, pending }, { before, nowMs: NOW + 3_600_000 });
  const times = (after['conditions'] as readonly Record<string, string>[]).map(
    ({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`,
  );
  expect(times).toContain('Ready 2026-11-02T12:00:00Z');
  expect(times).toContain('UpdatePending 2026-11-02T13:00:00Z');
});
