import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { DeployResult } from '../../src/releases/deploy.ts';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import {
  describeCluster,
  describeEachHelm,
  helmPath,
  lacksHelm,
} from '../support/control-plane/cluster-suite.ts';
import type { HelmVersion } from '../support/control-plane/programs.ts';
import { CONFIG_MAP } from './helm-templates.ts';
import { HelmWorld, shareHelmTools } from './helm-world.ts';

const WAIT_MS = 60_000;
const signal = new AbortController().signal;

/** A driver on the control plane, and a module with a chart of one ConfigMap; new for each test. */
export interface HelmLab {
  readonly world: HelmWorld;
  readonly driver: HelmDriver;
  readonly deploy: (values?: object, abort?: AbortSignal) => Promise<DeployResult>;
  /** Data of the ConfigMap of the chart. */
  readonly greeting: () => Promise<unknown>;
  /** Resolves when helm waits for the Job of the hanging hook. */
  readonly untilHookRuns: () => Promise<void>;
}

/** Tests of the driver, for every version of helm (see `describeEachHelm` for `inGate`); what the lab holds can be used in tests only. */
export function describeHelm(
  title: string,
  tests: (lab: HelmLab) => void,
  inGate?: readonly HelmVersion[],
): void {
  describeCluster(title, (cluster) => {
    const tools = shareHelmTools();
    describeEachHelm((version) => {
      let world: HelmWorld;
      let driver: HelmDriver;

      beforeEach(async (context) => {
        if (lacksHelm(version)) {
          context.skip();
          return;
        }
        world = await HelmWorld.start(cluster(), helmPath(cluster(), version), tools());
        await world.put({ 'templates/map.yaml': CONFIG_MAP });
        driver = await world.driver();
      });
      afterEach(async () => {
        await driver.monitors.stopAll();
        await world.stop();
      });

      tests({
        get world() {
          return world;
        },
        get driver() {
          return driver;
        },
        deploy: async (values = { greeting: 'hello' }, abort = signal) => {
          const module = { name: 'web', path: world.modulePath };
          return await driver.deploy({ module, values: { global: {}, web: values } }, abort);
        },
        untilHookRuns: async () => {
          await vi.waitFor(async () => expect(await world.object('batch/jobs/hang')).toBeDefined(), WAIT_MS);
        },
        greeting: async () => (await world.object('configmaps/web'))?.['data'],
      });
    }, inGate);
  });
}
