import { OperatorError } from '@addon-operator/base/errors';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DeployResult } from '../../src/releases/deploy.ts';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import type { AppliedRelease, ReleaseSteps, UninstallSteps } from '../../src/releases/release-steps.ts';
import {
  describeCluster,
  describeEachHelm,
  helmPath,
  lacksHelm,
} from '../support/control-plane/cluster-suite.ts';
import { rejection } from '../support/rejection.ts';
import { CONFIG_MAP, SERVICE } from './helm-templates.ts';
import { HelmWorld, shareHelmTools } from './helm-world.ts';

const signal = new AbortController().signal;
const SECOND = CONFIG_MAP.replace('"{{ .Release.Name }}"', 'second');
/** The server refuses the second object: its name is no name. */
const REFUSED = CONFIG_MAP.replace('"{{ .Release.Name }}"', '"Not A Name"');

function responding(
  response: (error: OperatorError) => OperatorError,
): NonNullable<ReleaseSteps['onFailure']> {
  // oxlint-disable-next-line promise/no-promise-in-callback -- the caller wants a promise
  return async (error) => await Promise.resolve(response(error));
}

describeCluster('steps on the way of a release', (cluster) => {
  const tools = shareHelmTools();
  describeEachHelm((version) => {
    let world: HelmWorld;
    let driver: HelmDriver;
    let calls: string[];
    let applied: AppliedRelease[];

    beforeEach(async (context) => {
      calls = [];
      applied = [];
      if (lacksHelm(version)) {
        context.skip();
        return;
      }
      world = await HelmWorld.start(cluster(), helmPath(cluster(), version), tools());
      await world.put({ 'templates/map.yaml': CONFIG_MAP, 'templates/service.yaml': SERVICE });
      driver = await world.driver();
    });
    afterEach(async () => {
      await driver.monitors.stopAll();
      await world.stop();
    });

    function steps(parts: Partial<ReleaseSteps> = {}): ReleaseSteps {
      const note = async (call: string): Promise<void> => {
        calls.push(call);
        await Promise.resolve();
      };
      return {
        digest: '',
        isOpen: false,
        transform: async (objects) => {
          await note('transform');
          return objects;
        },
        beforeApply: async () => await note('beforeApply'),
        afterApply: async (release) => {
          applied.push(release);
          await note('afterApply');
        },
        whenDeployed: async () => await note('whenDeployed'),
        ...parts,
      };
    }

    async function deploy(
      own: ReleaseSteps | undefined,
      values: object = { greeting: 'hello' },
    ): Promise<DeployResult> {
      const module = { name: 'web', path: world.modulePath };
      return await driver.deploy({ module, values: { global: {}, web: values }, steps: own }, signal);
    }

    function saying(data: string): Partial<ReleaseSteps> {
      const transform: ReleaseSteps['transform'] = async (objects) =>
        await Promise.resolve(
          objects.map((object) =>
            object.kind === 'ConfigMap' ? { ...object, data: { greeting: data } } : object,
          ),
        );
      return { digest: data, transform };
    }

    async function greeting(): Promise<unknown> {
      return (await world.object('configmaps/web'))?.['data'];
    }

    test('steps are called in their order, and with nothing changed only the last one', async () => {
      expect(await deploy(steps())).toMatchObject({ action: 'installed' });
      expect(calls).toEqual(['transform', 'beforeApply', 'afterApply', 'whenDeployed']);
      calls.length = 0;
      expect(await deploy(steps())).toMatchObject({ action: 'skipped' });
      expect(calls).toEqual(['whenDeployed']);
    });

    test('steps that change nothing leave digest, checksum and objects as they are without steps', async () => {
      await deploy(undefined);
      const [before] = await world.history();
      world.helmRuns.length = 0;
      expect(await deploy(steps())).toMatchObject({ action: 'skipped' });
      expect(world.helmRuns).toEqual([]);
      expect(await deploy(steps({ isOpen: true }))).toMatchObject({ action: 'skipped', revision: 1 });
      expect(world.helmRuns).toEqual(['upgrade']);
      const [after] = await world.history();
      expect(after?.labels).toEqual(before?.labels);
    });

    test('the result of transform() is applied, labelled, recorded, compared and rendered', async () => {
      const own = steps(saying('from a step'));
      expect(await deploy(own)).toMatchObject({ action: 'installed' });
      expect(await greeting()).toEqual({ greeting: 'from a step' });
      expect(await world.object('configmaps/web')).toMatchObject({
        metadata: { labels: { heritage: 'addon-operator' } },
      });
      expect(await deploy(own)).toMatchObject({ action: 'skipped', revision: 1 });
      expect(await deploy(steps(saying('otherwise')))).toMatchObject({ action: 'upgraded', revision: 2 });
      expect(await greeting()).toEqual({ greeting: 'otherwise' });
      const module = { name: 'web', path: world.modulePath };
      const request = { module, values: { global: {}, web: { greeting: 'hello' } } };
      expect(await driver.render({ ...request, steps: own }, signal)).toContain('from a step');
      const open = steps({ ...saying('from a step'), isOpen: true });
      expect(await driver.render({ ...request, steps: open }, signal)).not.toContain('from a step');
      expect(await deploy(undefined)).toMatchObject({ action: 'upgraded', revision: 3 });
      expect(await greeting()).toEqual({ greeting: 'hello' });
    });

    test('afterApply() gets the objects that are new since the last deployed revision', async () => {
      const added = (): string[] | undefined =>
        applied
          .at(-1)
          ?.added.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
          .toSorted();
      await deploy(steps());
      expect(added()).toEqual(['ConfigMap web', 'Service web']);
      expect(applied[0]?.objects[0]?.metadata.labels).toMatchObject({ heritage: 'addon-operator' });
      await world.put({ 'templates/refused.yaml': REFUSED });
      await rejection(deploy(steps()));
      expect(applied).toHaveLength(1);
      await world.put({ 'templates/refused.yaml': SECOND });
      await deploy(steps());
      expect(added()).toEqual(['ConfigMap second']);
    });

    test('an error of a step fails the deployment unchanged, without a retry, and before anything is applied', async () => {
      for (const step of ['transform', 'beforeApply'] as const) {
        const error = new OperatorError('EXTENSION_FAILED', step);
        world.helmRuns.length = 0;
        const run = deploy(steps({ [step]: async () => await Promise.reject(error) }));
        await expect(run).rejects.toBe(error);
        expect(world.helmRuns).toEqual(['upgrade']);
      }
      expect(await greeting()).toBeUndefined();
      expect(await world.statuses()).toEqual([]);
    });

    test('onFailure() decides whether a failed helm is retried at once, and with which error it fails', async () => {
      await world.put({ 'templates/refused.yaml': REFUSED });
      const other = new OperatorError('HELM_FAILED', 'other', { isPermanent: true });
      const messages: string[] = [];
      const run = deploy(
        steps({
          onFailure: responding((error) => {
            messages.push(error.message);
            return other;
          }),
        }),
      );
      await expect(run).rejects.toBe(other);
      expect(world.helmRuns).toEqual(['upgrade']);
      expect(messages).toEqual([expect.stringMatching(/^Cannot deploy release "web": .*Not A Name/s)]);
      world.helmRuns.length = 0;
      await rejection(deploy(steps({ onFailure: responding((error) => error) })));
      expect(world.helmRuns).toEqual(['install', 'install']);
    });

    function uninstallSteps(keep: (object: KubeObject) => boolean): UninstallSteps {
      return {
        around: async (objects, uninstall) => {
          calls.push(...objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
          await uninstall(objects.filter(keep));
        },
      };
    }

    test.each([
      ['some', (object: KubeObject) => object.kind === 'Service', [false, true]],
      ['none', () => false, [false, false]],
      ['all', () => true, [true, true]],
    ])('uninstall() makes helm keep %s of the objects', async (_which, keep, expected) => {
      await deploy(undefined);
      expect(await driver.uninstall('web', signal, { steps: uninstallSteps(keep) })).toBe('uninstalled');
      expect(calls.toSorted()).toEqual(['ConfigMap web', 'Service web']);
      const left = [await world.object('configmaps/web'), await world.object('services/web')];
      expect(left.map((object) => object !== undefined)).toEqual(expected);
      expect(await world.statuses()).toEqual([]);
    });

    test('uninstall() removes nothing when its steps fail', async () => {
      await deploy(undefined);
      const error = new OperatorError('EXTENSION_FAILED', 'no');
      const failing: UninstallSteps = { around: async () => await Promise.reject(error) };
      await expect(driver.uninstall('web', signal, { steps: failing })).rejects.toBe(error);
      expect(await greeting()).toBeDefined();
      expect(await world.statuses()).toEqual(['1 deployed']);
    });
  });
});
