import { OperatorError } from '@addon-operator/base/errors';
import { afterEach, expect, test } from 'vitest';
import { type DeliveryLab, labDigest, labWith, release } from '../../test/support/delivery-lab.ts';

const MINUTE = 60_000;
const INTERVAL = 10 * MINUTE;
const labs: DeliveryLab[] = [];

afterEach(async () => {
  for (const lab of labs.splice(0)) await lab.stop();
});

async function started(...args: Parameters<typeof labWith>): Promise<DeliveryLab> {
  const lab = await labWith(...args);
  labs.push(lab);
  return lab;
}

const unreachable = new OperatorError('REGISTRY_UNREACHABLE', 'connection refused');
const tooMany = new OperatorError('REGISTRY_UNREACHABLE', 'too many requests', { retryAfterMs: 3_600_000 });

test('the first version is installed, and a moved channel leads to the next one', async () => {
  const lab = await started();
  expect(lab.running).toEqual({ web: '1.0.0' });
  release(lab, '1.1.0');
  await lab.wait(INTERVAL);
  expect(lab.running).toEqual({ web: '1.1.0' });
  expect(lab.switches.map(({ entry, version }) => `${entry} ${version}`)).toEqual([
    '100-web 1.0.0',
    '100-web 1.1.0',
  ]);
  expect(lab.cluster.states.get('web')?.lastGood?.version).toBe('1.1.0');
  expect(lab.cluster.entries.get('web')?.map(({ version, outcome }) => `${version} ${outcome}`)).toEqual([
    '1.1.0 running',
    '1.0.0 replaced',
  ]);
});

test('what waits is known with its reason, since when that is so', async () => {
  const lab = await started({ web: { update: { mode: 'manual' } } });
  const installedMs = lab.clock.wallMs();
  expect(lab.delivery.updateOf('web')).toEqual({ pending: undefined, isFirst: false });
  expect(lab.delivery.updateOf('db')).toBeUndefined();
  release(lab, '1.1.0');
  await lab.wait(INTERVAL);
  const { pending } = lab.delivery.updateOf('web') ?? {};
  expect(pending).toMatchObject({ version: '1.1.0', reason: 'NeedsApproval' });
  expect(pending?.sinceMs).toBeGreaterThan(installedMs);
  await lab.wait(INTERVAL);
  expect(lab.delivery.updateOf('web')?.pending?.sinceMs).toBe(pending?.sinceMs);
});

test('an interval without changes takes one request for each module', async () => {
  const lab = await started({ web: {}, db: {}, api: {} });
  lab.registry.requests.length = 0;
  await lab.wait(INTERVAL);
  expect(lab.registry.requests.toSorted()).toEqual([
    'api resolve stable',
    'db resolve stable',
    'web resolve stable',
  ]);
});

test('a release channel of Deckhouse leads to the version that it names', async () => {
  const lab = await started({ web: { version: { channel: 'early-access' } } });
  expect(lab.pending('web')).toMatch(/^NotFound: .* has no channel early-access; it has stable/u);
  lab.registry.tag('web/release', 'early-access', labDigest('web', '1.0.0'));
  await lab.wait(INTERVAL);
  expect(lab.running).toEqual({ web: '1.0.0' });
});

test('a hundred modules of one source take a hundred requests for each interval', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `m${index}`);
  const lab = await started(Object.fromEntries(names.map((name) => [name, {}])));
  expect(Object.keys(lab.running)).toHaveLength(100);
  lab.registry.requests.length = 0;
  await lab.wait(INTERVAL);
  expect(lab.registry.requests).toHaveLength(100);
});

test('approval of a digest installs that digest, wherever the channel is by then', async () => {
  const lab = await started();
  const spec = { update: { mode: 'manual' } };
  await lab.apply({ web: spec });
  const digest = release(lab, '1.1.0');
  await lab.wait(INTERVAL);
  expect(lab.pending('web')).toMatch(/^NeedsApproval: every update needs approval/u);
  release(lab, '1.2.0');
  await lab.apply({ web: { ...spec, approved: digest } });
  await lab.wait(INTERVAL);
  expect(lab.running).toEqual({ web: '1.1.0' });
  expect(lab.pending('web')).toMatch(/^NeedsApproval/u);
});

const rollback = { gates: [{ ready: '20s' }], onFailure: { rollback: true, after: '30s' } };

test('a version that does not pass its gates is replaced by the last good one, and not tried again', async () => {
  const lab = await started({ web: rollback });
  lab.gates.set('web 1.1.0', { type: 'waiting', reason: '0 of 1 replicas' });
  release(lab, '1.1.0');
  await lab.wait(INTERVAL + MINUTE);
  expect(lab.switches.map(({ version }) => version)).toEqual(['1.0.0', '1.1.0', '1.0.0']);
  await lab.wait(INTERVAL);
  await lab.restart();
  await lab.wait(INTERVAL);
  expect(lab.switches).toHaveLength(3);
  expect(lab.pending('web')).toMatch(/^Failed: .*gates did not pass within 30 s: 0 of 1 replicas/u);
  expect(lab.cluster.entries.get('web')?.map(({ version, outcome }) => `${version} ${outcome}`)).toEqual([
    '1.0.0 running',
    '1.1.0 rolled-back',
    '1.0.0 replaced',
  ]);
  release(lab, '1.1.1');
  await lab.wait(INTERVAL);
  expect(lab.running).toEqual({ web: '1.1.1' });
});

test('approval again after a failure tries the failed version once more', async () => {
  const lab = await started({ web: rollback });
  lab.gates.set('web 1.1.0', { type: 'failed', reason: 'bad' });
  const approved = release(lab, '1.1.0');
  await lab.wait(INTERVAL + MINUTE);
  lab.gates.clear();
  await lab.apply({ web: { ...rollback, approved, approval: { at: '2026-11-02T13:00:00Z' } } });
  await lab.wait(MINUTE);
  expect(lab.running).toEqual({ web: '1.1.0' });
  expect(lab.cluster.states.get('web')?.failed).toEqual([]);
});

test('without onFailure a failed version stays', async () => {
  const lab = await started({ web: { gates: [{ ready: '20s' }] } });
  lab.gates.set('web 1.1.0', { type: 'failed', reason: 'bad' });
  release(lab, '1.1.0');
  await lab.wait(INTERVAL + MINUTE);
  expect(lab.running).toEqual({ web: '1.1.0' });
  expect(lab.delivery.view().installs[0]).toMatchObject({ hasFailed: true });
});

test('a gate that cannot be measured is never a failure', async () => {
  const lab = await started({ web: rollback });
  lab.gates.set('web 1.1.0', { type: 'hold', reason: 'Prometheus does not respond' });
  release(lab, '1.1.0');
  await lab.wait(INTERVAL + 60 * MINUTE);
  expect(lab.running).toEqual({ web: '1.1.0' });
  expect(lab.delivery.view().installs[0]).toMatchObject({
    hasFailed: false,
    waitsFor: 'Prometheus does not respond',
  });
});

test('a version of a disabled module never fails, and the next one is installed', async () => {
  const lab = await started({ web: rollback });
  lab.disabled.add('web');
  for (const version of ['1.1.0', '1.2.0']) {
    lab.gates.set(`web ${version}`, { type: 'waiting', reason: 'disabled' });
    release(lab, version);
    await lab.wait(INTERVAL + MINUTE);
  }
  expect(lab.running).toEqual({ web: '1.2.0' });
  expect(lab.delivery.view().installs[0]).toMatchObject({ hasFailed: false, waitsFor: undefined });
});

test('three failures in a row hold the module', async () => {
  const lab = await started({ web: rollback });
  for (const version of ['1.1.0', '1.1.1', '1.1.2']) {
    lab.gates.set(`web ${version}`, { type: 'failed', reason: 'bad' });
    release(lab, version);
    await lab.wait(INTERVAL + MINUTE);
  }
  release(lab, '1.1.3');
  await lab.wait(INTERVAL);
  expect(lab.running).toEqual({ web: '1.0.0' });
  expect(lab.pending('web')).toMatch(/^Held: 3 updates in a row have failed/u);
});

test('a preflight that is refused leaves the version, and is tried again', async () => {
  const lab = await started();
  lab.refusals.set('web 1.1.0', {
    type: 'refused',
    reason: 'WouldFail',
    message: 'denied: no latest',
  });
  release(lab, '1.1.0');
  await lab.wait(INTERVAL);
  expect(lab.pending('web')).toBe('WouldFail: denied: no latest');
  expect(lab.switches).toHaveLength(1);
  lab.refusals.clear();
  await lab.wait(2 * MINUTE);
  expect(lab.running).toEqual({ web: '1.1.0' });
});

test('a switch that is refused leaves the version', async () => {
  const lab = await started();
  lab.refusals.set('web 1.1.0', {
    type: 'refused',
    reason: 'NotLoadable',
    message: 'hooks/a.sh: --config failed',
  });
  release(lab, '1.1.0');
  await lab.wait(INTERVAL);
  expect(lab.pending('web')).toBe('NotLoadable: hooks/a.sh: --config failed');
  expect(lab.running).toEqual({ web: '1.0.0' });
  expect(lab.cluster.states.get('web')?.intent).toBeUndefined();
});

test('an unsigned version is not fetched', async () => {
  const lab = await started();
  lab.registry.tag('web', 'stable', lab.registry.push('web', '1.1.0', {}, false));
  await lab.wait(INTERVAL);
  expect(lab.pending('web')).toBe('Unverified: no signature');
  expect(lab.store.contents.has(labDigest('web', '1.1.0'))).toBe(false);
  expect(lab.running).toEqual({ web: '1.0.0' });
});

test('the repository of another module is refused', async () => {
  const lab = await started();
  lab.registry.tag('web', 'stable', lab.registry.push('db', '2.0.0'));
  await lab.wait(INTERVAL);
  expect(lab.pending('web')).toMatch(/^ArtifactInvalid: oci:\/\/lab\/web holds module db/u);
});

test('a version tag with another digest is an error, not an update', async () => {
  const lab = await started({ web: { version: { range: '~1.0' } } });
  lab.registry.tag('web', '1.0.0', lab.registry.push('web', '9.9.9'));
  lab.registry.untag('web', '9.9.9');
  await lab.wait(INTERVAL);
  expect(lab.pending('web')).toMatch(/^VersionChanged: tag 1.0.0 was sha256:/u);
  expect(lab.running).toEqual({ web: '1.0.0' });
});

test('a list of tags without the installed version is no downgrade', async () => {
  const lab = await started({ web: { version: { range: '>=0.1' } } });
  lab.registry.untag('web', '1.0.0');
  await lab.wait(INTERVAL);
  expect(lab.pending('web')).toMatch(/^NotFound: none of 1 tags/u);
  lab.registry.push('web', '0.9.0');
  await lab.wait(INTERVAL);
  expect(lab.pending('web')).toMatch(/^NeedsApproval: downgrade from 1.0.0/u);
  expect(lab.running).toEqual({ web: '1.0.0' });
});

test('while the registry is away nothing changes, and the source says so within an interval', async () => {
  const lab = await started();
  lab.registry.fault = unreachable;
  await lab.wait(INTERVAL);
  expect(lab.delivery.view().sources[0]).toMatchObject({ problem: 'connection refused' });
  expect(lab.running).toEqual({ web: '1.0.0' });
  lab.registry.fault = undefined;
  await lab.wait(INTERVAL);
  expect(lab.delivery.view().sources[0]).toMatchObject({ problem: undefined });
});

test('a registry that asks to wait gets one request until then', async () => {
  const lab = await started({ web: {}, db: {}, api: {} });
  lab.registry.fault = tooMany;
  await lab.wait(INTERVAL);
  lab.registry.requests.length = 0;
  await lab.wait(45 * MINUTE);
  expect(lab.registry.requests).toEqual([]);
  lab.registry.fault = undefined;
  await lab.wait(16 * MINUTE);
  expect(lab.registry.requests).toHaveLength(3);
  expect(lab.delivery.view().sources[0]).toMatchObject({ problem: undefined });
});

test('a module that cannot be read does not keep others from being updated', async () => {
  const lab = await started({ web: {}, db: {} });
  lab.registry.faults.set('db', new OperatorError('REGISTRY_REFUSED', '403'));
  release(lab, '1.1.0');
  await lab.wait(INTERVAL);
  expect(lab.running).toEqual({ web: '1.1.0', db: '1.0.0' });
  expect(lab.delivery.view().sources[0]).toMatchObject({ problem: '403' });
});

test('a lost store is refilled by digest, not by tag', async () => {
  const lab = await started();
  release(lab, '1.1.0');
  lab.store.contents.clear();
  await lab.wait(MINUTE);
  expect(lab.store.contents.has(labDigest('web', '1.0.0'))).toBe(true);
  expect(lab.running).toEqual({ web: '1.0.0' });
});

test('a start without registry and store uses the backup', async () => {
  const lab = await started();
  lab.registry.fault = unreachable;
  await lab.restart({ losesStore: true });
  expect(lab.running).toEqual({ web: '1.0.0' });
  expect(lab.delivery.unavailable()).toEqual(new Map());
});

test('content that is nowhere is named, and comes back with the registry', async () => {
  const lab = await started();
  lab.registry.fault = unreachable;
  lab.cluster.backups.clear();
  await lab.restart({ losesStore: true });
  expect([...lab.delivery.unavailable().keys()]).toEqual(['web']);
  expect(lab.removed).toEqual([]);
  lab.registry.fault = undefined;
  await lab.wait(INTERVAL);
  expect(lab.delivery.unavailable()).toEqual(new Map());
  expect(lab.running).toEqual({ web: '1.0.0' });
});

test('the deletion of an install removes the module, that of its source does not', async () => {
  const lab = await started({ web: {}, db: {} });
  await lab.apply({ web: {}, db: {} }, { source: false });
  await lab.wait(INTERVAL);
  expect(lab.running).toEqual({ web: '1.0.0', db: '1.0.0' });
  await lab.apply({ web: {} });
  expect(lab.removed).toEqual(['100-db']);
  expect([...lab.cluster.states.keys()]).toEqual(['web']);
});

test('an install that was deleted while no operator ran removes its module at the next start', async () => {
  const lab = await started({ web: {}, db: {} });
  await lab.stop();
  await lab.apply({ web: {} });
  await lab.restart();
  expect(lab.removed).toEqual(['100-db']);
});

test('installs that went with their definition remove nothing, also after a restart', async () => {
  const lab = await started();
  await lab.apply({}, { areNewlyDefined: true });
  expect(lab.running).toEqual({ web: '1.0.0' });
  await lab.apply({});
  await lab.restart();
  expect(lab.running).toEqual({ web: '1.0.0' });
  await lab.apply({ web: {} });
  await lab.apply({});
  expect(lab.removed).toEqual(['100-web']);
});

test('an invalid spec keeps the module as it is', async () => {
  const lab = await started();
  release(lab, '1.1.0');
  await lab.apply({ web: { order: 'first' } });
  await lab.wait(INTERVAL);
  expect(lab.running).toEqual({ web: '1.0.0' });
  expect(lab.delivery.view().installs[0]).toMatchObject({
    invalid: 'spec.order: must be a whole number from 0 to 999',
  });
});

test('another order moves the link', async () => {
  const lab = await started();
  await lab.apply({ web: { order: 30 } });
  await lab.wait(MINUTE);
  expect([...lab.store.linked.keys()]).toEqual(['030-web']);
});

test('updates keep to their limit, first installations do not', async () => {
  const lab = await started(
    { a: rollback, b: rollback, c: rollback },
    { updateParallel: 1, updateFailures: 0 },
  );
  expect(lab.running).toEqual({ a: '1.0.0', b: '1.0.0', c: '1.0.0' });
  for (const module of ['a', 'b', 'c']) {
    release(lab, '1.1.0', module);
    lab.gates.set(`${module} 1.1.0`, { type: 'waiting', reason: 'soon' });
  }
  await lab.wait(INTERVAL);
  expect(Object.values(lab.running).filter((version) => version === '1.1.0')).toHaveLength(1);
  lab.gates.clear();
  await lab.wait(2 * MINUTE);
  expect(lab.running).toEqual({ a: '1.1.0', b: '1.1.0', c: '1.1.0' });
});

test('a failed update holds those of other modules', async () => {
  const lab = await started({ a: rollback, b: rollback }, { updateParallel: 1, updateFailures: 1 });
  lab.gates.set('a 1.1.0', { type: 'failed', reason: 'bad' });
  release(lab, '1.1.0', 'a');
  await lab.wait(INTERVAL + MINUTE);
  release(lab, '1.1.0', 'b');
  await lab.wait(INTERVAL + MINUTE);
  expect(lab.running).toEqual({ a: '1.0.0', b: '1.0.0' });
  expect(lab.pending('b')).toBe('UpdateFailures: updates have failed: a (--update-failures)');
});

test('an update that began in a window goes on after its end', async () => {
  const windows = [{ from: '12:00', to: '12:11' }];
  const lab = await started({ web: { ...rollback, update: { windows } } });
  lab.gates.set('web 1.1.0', { type: 'waiting', reason: 'soon' });
  release(lab, '1.1.0');
  await lab.wait(INTERVAL + 10_000);
  expect(lab.running).toEqual({ web: '1.1.0' });
  await lab.wait(MINUTE);
  // Its failure is mended after the window as well.
  expect(lab.running).toEqual({ web: '1.0.0' });
});

test('a crash right after a switch is noticed by its link', async () => {
  const lab = await started();
  release(lab, '1.1.0');
  lab.onSwitch = async ({ entry, digest }) => {
    await lab.store.link(entry, digest);
    throw new Error('killed');
  };
  await lab.wait(INTERVAL);
  lab.onSwitch = () => undefined;
  await lab.restart();
  expect(lab.cluster.states.get('web')).toMatchObject({ installed: { version: '1.1.0' } });
  expect(lab.running).toEqual({ web: '1.1.0' });
});

test('a standby has the content of installed versions, and writes no link', async () => {
  const lab = await started();
  await lab.stop();
  lab.store.contents.clear();
  lab.store.linked.clear();
  await lab.delivery.prefetch(new AbortController().signal);
  expect(lab.store.contents.has(labDigest('web', '1.0.0'))).toBe(true);
  expect(lab.store.linked.size).toBe(0);
});
