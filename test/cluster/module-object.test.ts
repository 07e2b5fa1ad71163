import { homedir } from 'node:os';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { kstatusOf, kstatusProblems, type ReadObject } from '../support/kstatus.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const never = new AbortController().signal;
const WAIT_MS = 60_000;

describeCluster('Module objects with kubectl', (cluster) => {
  test('kubectl get, describe and wait work on Module objects', async () => {
    const backend = await controlPlaneBackend(cluster());
    await using world = await World.create(backend, {
      modules: {
        'values.yaml': 'kubectlWellEnabled: true\nkubectlBrokenEnabled: true\nkubectlOffEnabled: false\n',
        ...under('001-kubectl-well', {
          ...configMapChart('kubectl-well', 'kubectlWell'),
          'module.yaml': 'version: 1.2.3\n',
        }),
        '002-kubectl-off/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
        '003-kubectl-broken/hooks/hook.sh': shHook('beforeHelm: 1', 'echo no disk >&2; exit 1'),
      },
      flags: { 'module-objects': 'true' },
    });
    const binary = await pinnedKubectl({ cacheDir: cacheDirectory(process.env, homedir()) }, never);
    const kubectl = async (...args: readonly string[]): Promise<string> => {
      const { stdout } = await execa(binary, args, {
        extendEnv: false,
        env: { KUBECONFIG: backend.kubeconfigPath, HOME: world.directory },
      });
      return stdout;
    };
    await world.start();
    await world.untilDelayed();
    const stalled = ['wait', '--for=condition=Stalled', 'module/kubectl-broken', '--timeout=30s'];
    // kubectl gives up at once on a name that is not there yet.
    await vi.waitFor(async () => expect(await kubectl(...stalled)).toContain('condition met'), WAIT_MS);
    await kubectl('wait', '--for=condition=Ready', 'module/kubectl-well', '--timeout=30s');
    const own = `addon-operator.io/operator-namespace=${world.namespace}`;
    // Modules are told of one after another, and Events after that.
    await vi.waitFor(async () => {
      const table = await kubectl('get', 'modules', '-l', own);
      const rows = table.split('\n').map((line) => line.split(/ {2,}/u));
      expect(rows[0]).toEqual(
        expect.arrayContaining(['NAME', 'ENABLED', 'READY', 'PHASE', 'VERSION', 'REVISION', 'MESSAGE']),
      );
      expect(table).toMatch(/kubectl-well +True +True +Succeeded +1\.2\.3 +1 +\S+ +The last run succeeded/u);
      expect(table).toMatch(/kubectl-broken +True +False +Failed +.*no disk/u);
      expect(table).toMatch(/kubectl-off +False +False +.*The module is disabled/u);
      const text = await kubectl('describe', 'module', 'kubectl-broken');
      expect(text).toMatch(
        /Warning +HookFailed .*beforeHelm: module hook 'hooks\/hook\.sh' failed: no disk/u,
      );
      expect(text).toMatch(/Next Retry: +\S+/u);
    }, WAIT_MS);
    const names = ['kubectl-well', 'kubectl-broken', 'kubectl-off'];
    await world.stop();
    await kubectl('delete', 'modules', ...names);
  });

  test('kubectl wait follows Ready and Stalled through a refused ConfigMap and a pause', async () => {
    const backend = await controlPlaneBackend(cluster());
    const name = 'kubectl-waits';
    await using world = await World.create(backend, {
      config: {},
      modules: {
        'values.yaml': 'kubectlWaitsEnabled: true\n',
        ...under(`001-${name}`, {
          'hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
          'openapi/config-values.yaml': 'type: object\nproperties: {replicas: {type: integer}}\n',
        }),
      },
      flags: { 'module-objects': 'true' },
    });
    const binary = await pinnedKubectl({ cacheDir: cacheDirectory(process.env, homedir()) }, never);
    const kubectl = async (...args: readonly string[]): Promise<string> => {
      const env = { KUBECONFIG: backend.kubeconfigPath, HOME: world.directory };
      return (await execa(binary, args, { extendEnv: false, env })).stdout;
    };
    const untilCondition = async (condition: string): Promise<string> =>
      await kubectl('wait', `--for=condition=${condition}`, `module/${name}`, '--timeout=60s');
    const readyMessage = async (): Promise<string> =>
      await kubectl('get', 'module', name, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].message}');
    const expectFollowsKstatus = async (status: string): Promise<void> => {
      const object = JSON.parse(await kubectl('get', 'module', name, '-o', 'json')) as ReadObject;
      expect(kstatusProblems(object)).toEqual([]);
      expect(kstatusOf(object)).toBe(status);
    };
    await world.converge();
    // kubectl gives up at once on a name that is not there yet.
    await vi.waitFor(async () => expect(await untilCondition('Ready')).toContain('condition met'), WAIT_MS);
    await expectFollowsKstatus('Current');
    await world.putConfig({ kubectlWaits: 'replicas: many\n' });
    await untilCondition('Stalled');
    await untilCondition('Ready=False');
    expect(await readyMessage()).toContain('the ConfigMap is refused, so older values stay in use');
    await expectFollowsKstatus('Failed');
    await world.putConfig({ kubectlWaits: 'replicas: 2\n' });
    await untilCondition('Ready');
    await untilCondition('Stalled=False');
    await expectFollowsKstatus('Current');
    await runInWorld(world, 'module', 'pause', name, '--reason', 'new disks', '--for', '1h');
    await vi.waitFor(
      async () => expect(await readyMessage()).toMatch(/^Paused until 2\S+Z: new disks$/u),
      WAIT_MS,
    );
    await untilCondition('Ready');
    await expectFollowsKstatus('Current');
    await vi.waitFor(async () => {
      const events = await kubectl('describe', 'module', name);
      expect(events).toMatch(/Warning +HeldUp .*ConfigMapRefused/u);
      expect(events).toMatch(/Normal +Recovered /u);
      expect(events).toMatch(/Normal +Paused .*new disks/u);
    }, WAIT_MS);
    await world.stop();
    await kubectl('delete', 'module', name);
  });
});
