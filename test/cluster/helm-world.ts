import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { NO_SPAN } from '@addon-operator/base/trace';
import { findHelm } from '@addon-operator/helm/find-helm';
import { CredentialStore } from '@addon-operator/kube-client/credentials';
import { Discovery } from '@addon-operator/kube-client/discovery';
import { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import { loadKubeConfig } from '@addon-operator/kube-client/kube-config';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { type Launcher, startLauncher } from '@addon-operator/process/launcher';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import { parseYaml } from '@addon-operator/yaml';
import { execa, type ResultPromise } from 'execa';
import { afterAll, beforeAll } from 'vitest';
import type { HelmDuration } from '../../src/releases/driver-context.ts';
import { createHelmDriver, type HelmDriver, type HelmDriverOptions } from '../../src/releases/helm-driver.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import type { Cluster } from '../support/control-plane/global-setup.ts';
import { JumpClock } from '../support/jump-clock.ts';

const signal = new AbortController().signal;

export interface SeenRevision {
  readonly revision: number;
  readonly status: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** A launcher, and a directory for the versions of helm: to start one and to ask for the other takes 0.2 s of CPU time. */
interface HelmTools {
  readonly launcher: Launcher;
  readonly directory: string;
}

/** Tools for the worlds of a test file, from its first test to its last. For the body of `describe`; the result for tests. */
export function shareHelmTools(): () => HelmTools {
  let tools: HelmTools | undefined;
  beforeAll(async () => {
    tools = {
      launcher: await startLauncher({ log: silentLogger, clock: systemClock }),
      directory: await mkdtemp(join(tmpdir(), 'helm-tools-')),
    };
  });
  afterAll(async () => {
    await tools?.launcher.stop();
    if (tools !== undefined) await rm(tools.directory, { recursive: true, force: true });
  });
  return () => {
    if (tools === undefined) throw new Error('helm tools are there in tests and their hooks only');
    return tools;
  };
}

/** A namespace of a real cluster, a module directory, and a driver whose helm processes are counted. */
export class HelmWorld {
  readonly probe: ApiProbe;
  readonly namespace: string;
  readonly modulePath: string;
  readonly clock = new JumpClock();
  /** First argument of every helm process the driver started. */
  readonly helmRuns: string[] = [];
  readonly operations: HelmDuration[] = [];
  /** What was said to stay when releases were removed. */
  readonly leftBehind: string[] = [];
  readonly #cluster: Cluster;
  readonly #helmPath: string;
  readonly #root: string;
  readonly #tools: HelmTools;

  private constructor(cluster: Cluster, helmPath: string, namespace: string, root: string, tools: HelmTools) {
    this.#cluster = cluster;
    this.#helmPath = helmPath;
    this.namespace = namespace;
    this.#root = root;
    this.#tools = tools;
    this.probe = new ApiProbe(cluster.access);
    this.modulePath = join(root, '001-web');
  }

  /** @param tools what the worlds of a test file share, see {@link shareHelmTools} */
  static async start(cluster: Cluster, helmPath: string, tools: HelmTools): Promise<HelmWorld> {
    const namespace = await new ApiProbe(cluster.access).createNamespace('helm-driver');
    const root = await mkdtemp(join(tmpdir(), 'helm-driver-'));
    const world = new HelmWorld(cluster, helmPath, namespace, root, tools);
    await world.put({ 'Chart.yaml': 'apiVersion: v2\nname: anything\nversion: 1.0\n' });
    return world;
  }

  async stop(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }

  /** Writes files of the module; a text of undefined removes one. */
  async put(files: Readonly<Record<string, string | undefined>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.modulePath, name);
      await mkdir(dirname(path), { recursive: true });
      if (text === undefined) await rm(path);
      else await writeFile(path, text);
    }
  }

  /** A driver as a daemon that starts now would have it. */
  async driver(options: Partial<HelmDriverOptions> = {}): Promise<HelmDriver> {
    const { kubeconfigPath } = this.#cluster;
    const read = async (path: string): Promise<string> => await readFile(path, 'utf8');
    const access = await loadKubeConfig({ kubeConfigPath: kubeconfigPath, env: {}, readFile: read });
    const loadPlugin = async (): Promise<never> => await Promise.reject(new Error('no plug-ins here'));
    const credentials = new CredentialStore(access, { clock: systemClock, readFile: read, loadPlugin });
    const kube = new HttpKubeClient({
      access,
      credentials,
      clock: systemClock,
      random: Math.random,
      version: 'test',
    });
    const helm = await findHelm(
      {
        runner: this.#tools.launcher,
        helmBinPath: this.#helmPath,
        path: '',
        versionFile: join(this.#tools.directory, `${basename(dirname(this.#helmPath))}.json`),
        pinned: async () => await Promise.resolve(''),
      },
      signal,
    );
    return await createHelmDriver({
      runner: this.#countingRunner(),
      kube,
      monitorKube: kube,
      discovery: new Discovery({ kube, clock: this.clock, log: silentLogger }),
      clock: this.clock,
      log: silentLogger,
      helm,
      env: process.env,
      kubeConfigPath: kubeconfigPath,
      kubeContext: '',
      namespace: this.namespace,
      workDir: join(this.#root, 'work'),
      storageDriver: 'secret',
      historyMax: 10,
      timeoutMs: 20 * 60_000,
      parallel: 4,
      extraLabels: { heritage: 'addon-operator' },
      random: () => 0,
      onOperation: (operation) => this.operations.push(operation),
      onFinding: () => undefined,
      onLeftBehind: (_release, objects) => this.leftBehind.push(...objects),
      drift: {
        mode: 'off',
        reflectors: createSharedReflectors({
          kube,
          clock: this.clock,
          random: () => 0,
          log: silentLogger,
          rediscover: async (known) => known,
        }),
        readYaml: (text) => parseYaml(text, { source: 'manifest', booleans: 'yaml-1.1' }).value,
        isHeld: () => false,
        onEvent: () => undefined,
        onComparison: () => NO_SPAN,
        random: () => 0.5,
      },
      ...options,
    });
  }

  /** helm as a person at a terminal would use it, in the namespace of this world. */
  person(...args: readonly string[]): ResultPromise<{ stdin: 'ignore' }> {
    const env = {
      KUBECONFIG: this.#cluster.kubeconfigPath,
      HELM_CACHE_HOME: join(this.#root, 'person'),
      HELM_CONFIG_HOME: join(this.#root, 'person'),
      HELM_DATA_HOME: join(this.#root, 'person'),
    };
    return execa(this.#helmPath, [...args, '--namespace', this.namespace], { env, stdin: 'ignore' });
  }

  /** An object of the namespace; undefined when it does not exist. */
  async object(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { status, body } = await this.probe.request({ path: this.path(path) });
    return status === 404 ? undefined : (body as Readonly<Record<string, unknown>>);
  }

  /** URL path of something in the namespace, given with its group if it is not of the core: `configmaps/a`. */
  path(path: string): string {
    const group = path.startsWith('batch/') ? '/apis/batch/v1' : '/api/v1';
    return `${group}/namespaces/${this.namespace}/${path.replace('batch/', '')}`;
  }

  async delete(path: string): Promise<void> {
    await this.probe.expect({ method: 'DELETE', path: this.path(path) });
  }

  /** The history of a release as helm recorded it. */
  async history(release = 'web'): Promise<SeenRevision[]> {
    const selector = encodeURIComponent(`owner=helm,name=${release}`);
    const list = (await this.probe.expect({ path: this.path(`secrets?labelSelector=${selector}`) })) as {
      items: readonly { metadata: { labels: Readonly<Record<string, string>> } }[];
    };
    return list.items
      .map(({ metadata: { labels } }) => ({
        revision: Number(labels['version']),
        status: labels['status'],
        labels,
      }))
      .toSorted((a, b) => a.revision - b.revision);
  }

  async statuses(release = 'web'): Promise<string[]> {
    return (await this.history(release)).map(({ revision, status }) => `${revision} ${status}`);
  }

  /** Makes a Job look as if its Pods had succeeded. */
  async completeJob(name: string): Promise<void> {
    const now = new Date().toISOString();
    const conditions = [
      { type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: now },
      { type: 'Complete', status: 'True', lastTransitionTime: now },
    ];
    await this.probe.request({
      method: 'PATCH',
      path: `${this.path(`batch/jobs/${name}`)}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { completionTime: now, succeeded: 1, conditions } },
    });
  }

  /** Kills helm with a signal while it waits in this namespace, as the kernel does when memory runs out. */
  async killHelm(): Promise<void> {
    for (const pid of await this.helmPids()) process.kill(pid, 'SIGKILL');
  }

  /** Pids of the helm processes at work in this namespace. */
  async helmPids(): Promise<number[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const found: number[] = [];
    for (const pid of pids) {
      const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      if (args[0] === this.#helmPath && args.includes(this.namespace)) found.push(Number(pid));
    }
    return found;
  }

  #countingRunner(): ProcessRunner {
    return {
      run: async (spec, runSignal) => {
        if (spec.file === this.#helmPath) this.helmRuns.push(spec.args[0] ?? '');
        return await this.#tools.launcher.run(spec, runSignal);
      },
    };
  }
}
