import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { OperatorError } from '@addon-operator/base/errors';
import { labelsAtStart, labelsAtUninstall, labelsWhenDeployed } from '@addon-operator/helm/record-metadata';
import type { OwnRecord, ReleaseState } from '@addon-operator/helm/recovery-table';
import {
  deployRecovery,
  OWN_RECORDS,
  RELEASE_STATES,
  uninstallRecovery,
} from '@addon-operator/helm/recovery-table';
import { encodeRelease } from '@addon-operator/helm/release-record';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import { CapturedLog } from '../support/captured-log.ts';
import {
  describeCluster,
  describeEachHelm,
  helmPath,
  lacksHelm,
} from '../support/control-plane/cluster-suite.ts';
import { GATE_HELM_VERSIONS, type HelmVersion } from '../support/control-plane/programs.ts';
import { HelmWorld, shareHelmTools } from './helm-world.ts';
import { addRevisions, corrupt, install, patchRecord, ReleaseStates } from './release-states.ts';

const signal = new AbortController().signal;
const PAST_TIMEOUT_MS = 22 * 60_000;
const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {greeting: "{{ .Values.web.greeting }}"}
`;

const isDeployed: unknown = expect.objectContaining({ status: 'deployed' });

/** States for which it matters who wrote the record. */
const JUDGED_BY_OWNER: readonly ReleaseState[] = [
  'deployed',
  'pending-install',
  'pending-upgrade',
  'pending-rollback',
  'uninstalling',
  'corrupt',
];

function cells(version: HelmVersion): (readonly [ReleaseState, OwnRecord])[] {
  return RELEASE_STATES.flatMap((state) => ownRecordsFor(state, version).map((own) => [state, own] as const));
}

const UNINSTALLED_BY: Readonly<Record<HelmVersion, readonly OwnRecord[]>> = {
  '3.17.3': ['none', 'at-work', 'cut-off'],
  '3.19.5': ['none', 'cut-off'],
  '4.1.4': ['none', 'at-work', 'complete'],
};

/**
 * The same table for a release that has to go, by those records that make a difference. An uninstall that was cut off in
 * its hook hangs there again: `helm.test.ts` ends that hook.
 */
function uninstallCells(version: HelmVersion): (readonly [ReleaseState, OwnRecord])[] {
  return cells(version).filter(
    ([state, own]) => state !== 'uninstalling' && UNINSTALLED_BY[version].includes(own),
  );
}

function ownRecordsFor(state: ReleaseState, version: HelmVersion): readonly OwnRecord[] {
  if (state === 'none') return ['none'];
  if (version === '3.19.5') return ['cut-off'];
  return JUDGED_BY_OWNER.includes(state) ? OWN_RECORDS : ['none', 'complete'];
}

/** States that a helm which was cut off leaves. */
function isInterrupted(state: ReleaseState): boolean {
  return state.startsWith('pending-') || state === 'uninstalling';
}

/** Deploys and uninstalls of releases in every state, and what becomes of records that cannot be read. */
export type RecoveryPart = 'deploy' | 'deploy-interrupted' | 'uninstall' | 'records';

/** The tests are many and slow: each file takes a part of them, or a version of helm. */
export function describeRecovery(parts: readonly RecoveryPart[], versions: readonly HelmVersion[]): void {
  describeCluster('recovery of releases', (cluster) => {
    const tools = shareHelmTools();
    const testsWith = (version: HelmVersion): void => {
      const states = new ReleaseStates();
      let world: HelmWorld;
      let driver: HelmDriver;
      let log: CapturedLog;

      beforeEach(async (context) => {
        if (lacksHelm(version)) {
          context.skip();
          return;
        }
        world = await HelmWorld.start(cluster(), helmPath(cluster(), version), tools());
        await world.put({ 'templates/map.yaml': CONFIG_MAP });
        log = new CapturedLog(world.clock);
        driver = await world.driver({ log: log.logger });
      });
      afterEach(async () => {
        await driver.monitors.stopAll();
        await world.stop();
      });

      const tests: Readonly<Record<RecoveryPart, () => void>> = {
        deploy: () => deployTests(cells(version).filter(([state]) => !isInterrupted(state))),
        'deploy-interrupted': () => deployTests(cells(version).filter(([state]) => isInterrupted(state))),
        uninstall: uninstallTests,
        records: recordTests,
      };
      for (const part of parts) tests[part]();

      function deployTests(table: ReturnType<typeof cells>): void {
        test.each(table)('a release that is %s, where our own record is %s', async (state, own) => {
          await states.produce(world, state);
          await setOwnRecord(state, own);
          const before = await world.history();
          const uid = await mapUid();
          const recovery = deployRecovery(state, own);
          // Who waits gives way at first, and only then goes on.
          expect(await attempt()).toBe(
            recovery === 'wait' || recovery === 'outwait' ? 'HELM_LOCKED' : 'deployed',
          );
          world.clock.jump(PAST_TIMEOUT_MS);
          expect(await attempt()).toBe(recovery === 'wait' ? 'HELM_LOCKED' : 'deployed');
          const after = await world.history();
          // Nothing was removed to mend it: the object is the same one, and every revision is still there.
          expect(uid === undefined || (await mapUid()) === uid).toBe(true);
          const kept = before
            .slice(0, recovery === 'set-aside' ? -1 : undefined)
            .map(({ revision }) => revision);
          expect(after.map(({ revision }) => revision)).toEqual(expect.arrayContaining(kept));
          // Where nothing was ever deployed, helm installs, so that the hooks for an install run. A complete record of ours
          // says that the revision was deployed, whatever its status became.
          const isFailedInstall = ['failed', 'pending-install'].includes(state) && own !== 'complete';
          const isInstalled = state === 'uninstalled' || isFailedInstall;
          const helm = isInstalled ? 'install' : 'upgrade';
          expect(world.helmRuns).toEqual(recovery === 'wait' ? [] : [helm]);
          expect(after.at(-1)).toEqual(recovery === 'wait' ? before.at(-1) : isDeployed);
          // helm itself calls a failed revision superseded, where it takes it for the one to upgrade from.
          const unfinished = after
            .slice(0, -1)
            .filter(({ status }) => /pending|ing$|unknown/.test(status ?? ''));
          expect(unfinished).toEqual([]);
          expect(messages()).toEqual(expect.arrayContaining(whatIsSaid(state, own)));
        });
      }

      function uninstallTests(): void {
        test.each(uninstallCells(version))(
          'a disabled module whose release is %s, where our own record is %s',
          async (state, own) => {
            await states.produce(world, state);
            await setOwnRecord(state, own);
            const before = await world.history();
            const recovery = uninstallRecovery(state, own, false);
            const isHeld = recovery === 'wait' || recovery === 'outwait';
            const [isSpared, isAbsent] = [recovery === 'spare', recovery === 'absent'];
            const done = isSpared ? 'spared' : isAbsent ? 'absent' : 'uninstalled';
            expect(await attemptUninstall()).toBe(isHeld ? 'HELM_LOCKED' : done);
            world.clock.jump(PAST_TIMEOUT_MS);
            const again = isHeld ? 'uninstalled' : isSpared ? 'spared' : 'absent';
            expect(await attemptUninstall()).toBe(recovery === 'wait' ? 'HELM_LOCKED' : again);
            expect(await world.history()).toEqual(isSpared || recovery === 'wait' ? before : []);
          },
        );
      }

      async function attemptUninstall(): Promise<unknown> {
        try {
          return await driver.uninstall('web', signal);
        } catch (error) {
          return error instanceof OperatorError ? error.code : error;
        }
      }

      function recordTests(): void {
        test('a corrupt record is kept under another name, and the only one of a release is installed over', async () => {
          await driver.deploy(request(), signal);
          const uid = await mapUid();
          // It can be read, but lacks what helm looks at first, and so helm breaks down on it.
          const chart = { metadata: { name: 'web', version: '1.0.0' } };
          await corrupt(
            world,
            'sh.helm.release.v1.web.v1',
            await encodeRelease({ name: 'web', version: 1, manifest: '', chart }),
          );
          const restarted = await world.driver({ log: log.logger });
          // While nothing has to be done, nobody needs the record.
          expect(await restarted.deploy({ ...request('good day') }, signal)).toMatchObject({ revision: 1 });
          await restarted.monitors.stopAll();
          expect(await mapUid()).toBe(uid);
          const records = (await world.object('secrets')) as { items: { metadata: { name: string } }[] };
          expect(records.items.map(({ metadata }) => metadata.name)).toEqual([
            'sh.helm.release.v1.web.v1',
            expect.stringMatching(/^sh\.helm\.release\.v1\.web\.v1\.corrupt-[0-9a-f]{8}$/),
          ]);
        });

        test('a release with ten revisions that was uninstalled and kept its history is installed again', async () => {
          await install(world);
          await addRevisions(world, 10);
          await world.person('uninstall', 'web', '--keep-history');
          expect(await attempt()).toBe('deployed');
          expect((await world.statuses()).slice(-2)).toEqual(['10 superseded', '11 deployed']);
          expect(await driver.deploy(request('good day'), signal)).toMatchObject({ revision: 12 });
        });

        test.each([{ owner: null }, { name: 'other' }])(
          'a record that helm does not find because of its labels (%j) is renamed',
          async (labels) => {
            await driver.deploy(request(), signal);
            await driver.deploy(request('good day'), signal);
            const uid = await mapUid();
            await patchRecord(world, 'sh.helm.release.v1.web.v2', { metadata: { labels } });
            const restarted = await world.driver({ log: log.logger });
            expect(await restarted.deploy(request(), signal)).toMatchObject({ revision: 2 });
            expect(await restarted.deploy(request('good day'), signal)).toMatchObject({ revision: 3 });
            await restarted.monitors.stopAll();
            expect(await mapUid()).toBe(uid);
            expect(await world.statuses()).toEqual(['1 superseded', '2 superseded', '3 deployed']);
            expect(messages()).toContain(
              'cannot read a release record: it was moved aside, and the release continues from the remaining records',
            );
          },
        );

        test('uninstall() of a release with a corrupt record uses the remaining records, and warns about objects that may remain', async () => {
          await driver.deploy(request(), signal);
          await driver.deploy(request('good day'), signal);
          await corrupt(world, 'sh.helm.release.v1.web.v2');
          expect(await driver.uninstall('web', signal)).toBe('uninstalled');
          expect(await world.object('configmaps/web')).toBeUndefined();
          expect(await world.history()).toEqual([]);
          expect(messages()).toContain(
            'objects that only the unreadable revision listed may remain: find them by this annotation and delete them',
          );
        });

        test('uninstall() waits for another helm that uninstalls, and continues after the time limit of helm', async () => {
          await states.produce(world, 'uninstalling');
          await setOwnRecord('uninstalling', 'earlier');
          await expect(driver.uninstall('web', signal)).rejects.toMatchObject({ code: 'HELM_LOCKED' });
          expect(await world.statuses()).toEqual(['1 uninstalling']);
        });
      }

      function request(greeting = 'hello'): Parameters<HelmDriver['deploy']>[0] {
        return { module: { name: 'web', path: world.modulePath }, values: { web: { greeting } } };
      }

      /** `deployed` when the module is as its chart and values say, else the code of the error. */
      async function attempt(): Promise<unknown> {
        try {
          await driver.deploy(request(), signal);
        } catch (error) {
          return error instanceof OperatorError ? error.code : error;
        }
        const map = (await world.object('configmaps/web')) as { data: { greeting: string } } | undefined;
        return map?.data.greeting === 'hello' ? 'deployed' : 'not deployed';
      }

      function messages(): unknown[] {
        return log.records.map((record) => record['msg']);
      }

      async function mapUid(): Promise<unknown> {
        const map = (await world.object('configmaps/web')) as { metadata: { uid: string } } | undefined;
        return map?.metadata.uid;
      }

      async function setOwnRecord(state: ReleaseState, own: OwnRecord): Promise<void> {
        const latest = (await world.history()).at(-1);
        if (latest === undefined || own === 'none') return;
        const { revision } = latest;
        const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 12);
        const holder = own === 'at-work' ? `${host}.${process.ppid}.aa` : `${host}.999999999.aa`;
        const facts = {
          revision: own === 'earlier' ? revision + 7 : revision,
          inputDigest: 'd',
          holder,
          isUnmanaged: false,
        };
        const labels = {
          ...labelsAtStart({ ...facts, isInstalled: true }),
          ...(own === 'complete' ? labelsWhenDeployed({ ...facts, checksum: 'c' }) : {}),
          ...(state === 'uninstalling' && own !== 'earlier' ? labelsAtUninstall(holder) : {}),
        };
        await patchRecord(world, `sh.helm.release.v1.web.v${revision}`, { metadata: { labels } });
      }
    };
    describeEachHelm(testsWith, GATE_HELM_VERSIONS, versions);
  });
}

/** What the daemon says about a repair, at least. */
function whatIsSaid(state: ReleaseState, own: OwnRecord): string[] {
  switch (deployRecovery(state, own)) {
    case 'mark-failed':
    case 'outwait':
      return ['release was left unfinished: marking its last revision as failed'];
    case 'set-aside':
      return [
        'cannot read a release record: it was moved aside, and the release continues from the remaining records',
      ];
    case 'upgrade':
      return own === 'none'
        ? ['release was not created by this operator: adopting it, because a module has its name']
        : [];
    case 'install':
    case 'use':
    case 'wait':
      return [];
  }
}
