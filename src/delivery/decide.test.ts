import { expect, test } from 'vitest';
import { type DecideInput, decide, explainWait, type OfferedVersion } from './decide.ts';
import {
  failedInstalled,
  type InstallState,
  NEW_INSTALL,
  passed,
  sawDigest,
  switched,
} from './install-state.ts';
import { type Install, parseInstall } from './parse-spec.ts';

const NOW = Date.parse('2026-11-02T12:00:00Z');
const HOUR = 3_600_000;
const digestOf = (version: string): string =>
  `sha256:${Buffer.from(version).toString('hex').padEnd(64, '0').slice(0, 64)}`;

function install(change: Record<string, unknown> = {}): Install {
  const parsed = parseInstall({
    name: 'web',
    spec: { source: 'platform', version: { channel: 'stable' }, ...change },
  });
  if (parsed.type === 'invalid') throw new Error(parsed.problems.join());
  return parsed.value;
}

function version(name: string, facts: Partial<OfferedVersion['facts']> = {}): OfferedVersion {
  return { type: 'version', digest: digestOf(name), facts: { version: name, ...facts } };
}

function running(name: string): InstallState {
  return passed(switched(NEW_INSTALL, { version: name, digest: digestOf(name), entry: '100-web' }, NOW));
}

function decided(change: Partial<DecideInput>): string {
  const input: DecideInput = {
    install: install(),
    state: running('1.0.0'),
    candidate: undefined,
    approved: undefined,
    operatorVersion: '1.3.0',
    modules: new Map([['db', '2.0.0']]),
    limits: { running: 0, parallel: 4, failed: [], failures: 0 },
    nowMs: NOW,
    ...change,
  };
  const decision = decide(input);
  if (decision.type === 'nothing') return 'nothing';
  return decision.type === 'install' ? `install ${decision.version}` : explainWait(decision);
}

const approve = (name: string, now = false) => ({ approved: digestOf(name), approval: { now } });
const failing = (name: string): InstallState => failedInstalled(running(name), 'not ready', NOW);
const window = { update: { windows: [{ from: '20:00', to: '22:00' }] } };

const CASES: readonly (readonly [string, Partial<DecideInput>, string])[] = [
  ['nothing is known yet', {}, 'nothing'],
  ['the wanted version is installed', { candidate: version('1.0.0') }, 'nothing'],
  ['an update', { candidate: version('1.1.0') }, 'install 1.1.0'],
  [
    'a first installation in every mode',
    {
      install: install({ update: { mode: 'manual', ...window.update } }),
      state: NEW_INSTALL,
      candidate: version('1.1.0'),
    },
    'install 1.1.0',
  ],
  [
    'mode patch, a patch',
    { install: install({ update: { mode: 'patch' } }), candidate: version('1.0.7') },
    'install 1.0.7',
  ],
  [
    'mode patch, a minor version',
    { install: install({ update: { mode: 'patch' } }), candidate: version('1.1.0') },
    '1.1.0 waits (NeedsApproval): 1.0.0 to 1.1.0 is no patch (mode patch)',
  ],
  [
    'mode manual',
    { install: install({ update: { mode: 'manual' } }), candidate: version('1.0.1') },
    '1.0.1 waits (NeedsApproval): every update needs approval (mode manual)',
  ],
  [
    'mode manual, approved',
    { install: install({ update: { mode: 'manual' }, ...approve('1.0.1') }), candidate: version('1.0.1') },
    'install 1.0.1',
  ],
  [
    'approved, and the channel went on',
    {
      install: install({ update: { mode: 'manual' }, ...approve('1.1.0') }),
      candidate: version('1.2.0'),
      approved: version('1.1.0'),
    },
    'install 1.1.0',
  ],
  [
    'an approval that was used',
    {
      install: install({ ...approve('1.0.0') }),
      state: { ...running('1.1.0'), spentApproval: `${digestOf('1.0.0')}@` },
      candidate: version('1.1.0'),
      approved: version('1.0.0'),
    },
    'nothing',
  ],
  [
    'an older channel',
    { candidate: version('0.9.0') },
    '0.9.0 waits (NeedsApproval): downgrade from 1.0.0: a source never leads to an older version by itself',
  ],
  [
    'an older version by name',
    { install: install({ version: { exact: '0.9.0' } }), candidate: version('0.9.0') },
    'install 0.9.0',
  ],
  [
    'an older version, approved',
    { install: install(approve('0.9.0')), candidate: version('0.9.0') },
    'install 0.9.0',
  ],
  [
    'held',
    { install: install({ hold: { reason: 'INC-7' } }), candidate: version('1.1.0') },
    '1.1.0 waits (Held): held: INC-7',
  ],
  [
    'held until tomorrow',
    { install: install({ hold: { reason: 'INC-7', until: '2026-11-03' } }), candidate: version('1.1.0') },
    '1.1.0 waits (Held): held: INC-7, until 2026-11-03T00:00:00.000Z',
  ],
  [
    'held until yesterday',
    { install: install({ hold: { reason: 'INC-7', until: '2026-11-01' } }), candidate: version('1.1.0') },
    'install 1.1.0',
  ],
  [
    'held and approved',
    { install: install({ hold: { reason: 'INC-7' }, ...approve('1.1.0') }), candidate: version('1.1.0') },
    '1.1.0 waits (Held): held: INC-7',
  ],
  [
    'outside of its window',
    { install: install(window), candidate: version('1.1.0') },
    '1.1.0 waits (OutsideWindow): updates wait for a window, until 2026-11-02T20:00:00.000Z',
  ],
  [
    'approval does not open a window',
    { install: install({ ...window, ...approve('1.1.0') }), candidate: version('1.1.0') },
    '1.1.0 waits (OutsideWindow): updates wait for a window, until 2026-11-02T20:00:00.000Z',
  ],
  [
    'approval for now does',
    { install: install({ ...window, ...approve('1.1.0', true) }), candidate: version('1.1.0') },
    'install 1.1.0',
  ],
  [
    'soaking',
    {
      install: install({ update: { soak: '24h' } }),
      state: sawDigest(running('1.0.0'), digestOf('1.1.0'), NOW - 23 * HOUR),
      candidate: version('1.1.0'),
    },
    '1.1.0 waits (Soaking): not old enough (soak), until 2026-11-02T13:00:00.000Z',
  ],
  [
    'soaked',
    {
      install: install({ update: { soak: '24h' } }),
      state: sawDigest(running('1.0.0'), digestOf('1.1.0'), NOW - 24 * HOUR),
      candidate: version('1.1.0'),
    },
    'install 1.1.0',
  ],
  [
    'a failed version',
    {
      state: { ...failing('1.1.0'), installed: { version: '1.0.0', digest: digestOf('1.0.0'), atMs: NOW } },
      candidate: version('1.1.0'),
    },
    '1.1.0 waits (Failed): this version failed and is not tried again without approval: not ready',
  ],
  [
    'a failed version, approved again',
    {
      install: install(approve('1.1.0')),
      state: { ...failing('1.1.0'), installed: { version: '1.0.0', digest: digestOf('1.0.0'), atMs: NOW } },
      candidate: version('1.1.0'),
    },
    'install 1.1.0',
  ],
  [
    'a failed version that is installed, approved again',
    { install: install(approve('1.1.0')), state: failing('1.1.0'), candidate: version('1.1.0') },
    'install 1.1.0',
  ],
  [
    'a newer version after a failure',
    { state: failing('1.1.0'), candidate: version('1.1.1') },
    'install 1.1.1',
  ],
  [
    'three failures',
    { state: { ...running('1.0.0'), failures: 3 }, candidate: version('1.1.0') },
    '1.1.0 waits (Held): 3 updates in a row have failed: approve a version to go on',
  ],
  [
    'three failures, approved',
    {
      install: install(approve('1.1.0')),
      state: { ...running('1.0.0'), failures: 3 },
      candidate: version('1.1.0'),
    },
    'install 1.1.0',
  ],
  [
    'another operator',
    { candidate: version('1.1.0', { operator: '>=2' }) },
    '1.1.0 waits (RequirementMissing): needs an operator >=2, this one is 1.3.0',
  ],
  [
    'a module that is not enabled',
    { candidate: version('1.1.0', { requires: { cache: '>=1' } }) },
    '1.1.0 waits (RequirementMissing): requires module cache, which is not enabled',
  ],
  [
    'a module that is too old',
    { candidate: version('1.1.0', { requires: { db: '>=3' } }) },
    '1.1.0 waits (RequirementMissing): requires module db >=3, which is 2.0.0',
  ],
  [
    'requirements that are met',
    { candidate: version('1.1.0', { requires: { db: '^2' }, operator: '>=1.2' }) },
    'install 1.1.0',
  ],
  [
    'requirements of a first installation',
    { state: NEW_INSTALL, candidate: version('1.1.0', { requires: { cache: '' } }) },
    '1.1.0 waits (RequirementMissing): requires module cache, which is not enabled',
  ],
  [
    'as many updates as may be',
    { candidate: version('1.1.0'), limits: { running: 4, parallel: 4, failed: [], failures: 0 } },
    '1.1.0 waits (UpdateLimit): 4 other updates are in progress (--update-parallel)',
  ],
  [
    'a first installation beside them',
    {
      state: NEW_INSTALL,
      candidate: version('1.1.0'),
      limits: { running: 4, parallel: 4, failed: ['a'], failures: 1 },
    },
    'install 1.1.0',
  ],
  [
    'a failed update of another module',
    { candidate: version('1.1.0'), limits: { running: 0, parallel: 4, failed: ['a'], failures: 1 } },
    '1.1.0 waits (UpdateFailures): updates have failed: a (--update-failures)',
  ],
  [
    'its own failed update',
    { candidate: version('1.1.0'), limits: { running: 0, parallel: 4, failed: ['web'], failures: 1 } },
    'install 1.1.0',
  ],
  [
    'what the source said',
    {
      candidate: {
        type: 'pending',
        version: '1.1.0',
        digest: digestOf('1.1.0'),
        reason: 'Unverified',
        message: 'no signature',
      },
    },
    '1.1.0 waits (Unverified): no signature',
  ],
];

test.each(CASES)('decide(): %s', (_name, change, expected) => {
  expect(decided(change)).toBe(expected);
});
