import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { CHART } from '../control-plane/operator-chart.ts';
import type { HelmVersion } from '../control-plane/programs.ts';
import { writeImage } from './images.ts';
import type { SharedNode } from './node-suite.ts';

const PROGRAM = join(import.meta.dirname, '../../../bin/addon-operator');
const HELM_TIMEOUT = '5m';
/** Name of the release, the Deployment and the service account. */
export const RELEASE = 'op';

export interface PodOperatorSpec {
  /** Start of the namespace's name. */
  readonly name: string;
  /** What becomes `/modules` and `/global-hooks` of the image: directories to copy. */
  readonly modulesDir?: string;
  readonly globalHooksDir?: string;
  /** Files by path in the image, executable; in addition to the directories. */
  readonly files?: Readonly<Record<string, string>>;
  /** Values of the chart, as `--set-json` takes them. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Default: 4.1.4. */
  readonly helm?: HelmVersion;
  /** Default: what `rbac` prints for the modules and hooks. */
  readonly permissions?: 'least' | 'administrator';
}

interface PodList {
  readonly items: readonly PodObject[];
}

export interface PodObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly restartCount: number;
      readonly state: Readonly<Record<string, unknown>>;
      readonly lastState: { readonly terminated?: { readonly reason: string; readonly exitCode: number } };
    }[];
  };
}

/** The operator with modules of a test, installed by its chart in a namespace with the restricted pod security standard. */
export class PodOperator implements AsyncDisposable {
  readonly namespace: string;
  readonly #shared: SharedNode;
  readonly #spec: PodOperatorSpec;
  readonly #directory: string;

  private constructor(shared: SharedNode, spec: PodOperatorSpec, namespace: string, directory: string) {
    this.#shared = shared;
    this.#spec = spec;
    this.namespace = namespace;
    this.#directory = directory;
  }

  /** Makes the namespace, the image and the values; nothing is installed yet. */
  static async prepare(shared: SharedNode, spec: PodOperatorSpec): Promise<PodOperator> {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    const namespace = (await shared.node.probe.expect({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { metadata: { generateName: `${spec.name}-`, labels } },
    })) as { readonly metadata: { readonly name: string } };
    const directory = await mkdtemp(join(shared.node.directory, 'pod-operator-'));
    const operator = new PodOperator(shared, spec, namespace.metadata.name, directory);
    try {
      await operator.loadImage();
      await operator.writeRules();
      return operator;
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Resolves when the operator is ready, so after its first converge. */
  static async install(shared: SharedNode, spec: PodOperatorSpec): Promise<PodOperator> {
    const operator = await PodOperator.prepare(shared, spec);
    try {
      await operator.upgrade();
      return operator;
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { probe } = this.#shared.node;
    await this.helm(
      'uninstall',
      RELEASE,
      '--namespace',
      this.namespace,
      '--wait',
      '--ignore-not-found',
    ).catch(() => undefined);
    await probe.request({ method: 'DELETE', path: `/api/v1/namespaces/${this.namespace}` });
    await rm(this.#directory, { recursive: true, force: true });
  }

  get image(): string {
    return `localhost/${this.namespace}`;
  }

  /** `helm upgrade --install --wait` of the chart; flags are added at the end. An error contains what the pods log. */
  async upgrade(...flags: readonly string[]): Promise<void> {
    try {
      await this.startUpgrade('--wait', '--timeout', HELM_TIMEOUT, ...flags);
    } catch (error) {
      throw new Error(`Cannot install the chart in ${this.namespace}:\n${await this.describe()}`, {
        cause: error,
      });
    }
  }

  /** As {@link upgrade}, without waiting until the operator is ready. */
  async startUpgrade(...flags: readonly string[]): Promise<void> {
    const { values = {} } = this.#spec;
    const set = Object.entries({ 'image.repository': this.image, 'image.tag': 'test', ...values });
    const args = set.flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]);
    const install = ['upgrade', '--install', RELEASE, CHART, '--namespace', this.namespace];
    await this.helm(...install, '--values', this.#rules, ...args, ...flags);
  }

  async helm(...args: readonly string[]): Promise<string> {
    const { node, parts } = this.#shared;
    const env = {
      KUBECONFIG: node.kubeconfigPath,
      HELM_CACHE_HOME: this.#directory,
      HELM_CONFIG_HOME: this.#directory,
      HELM_DATA_HOME: this.#directory,
    };
    const file = parts.helm[this.#spec.helm ?? '4.1.4'];
    return (await execa(file, args, { env, stdin: 'ignore' })).stdout;
  }

  /** Pods of the operator that are not being deleted. */
  async pods(): Promise<readonly PodObject[]> {
    const path = `/api/v1/namespaces/${this.namespace}/pods?labelSelector=app.kubernetes.io/instance=${RELEASE}`;
    const { items } = (await this.#shared.node.probe.expect({ path })) as PodList;
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** What a pod logged, or its previous container. */
  async log(pod: string, query = ''): Promise<string> {
    const path = `/api/v1/namespaces/${this.namespace}/pods/${pod}/log?container=addon-operator${query}`;
    const { body } = await this.#shared.node.probe.request({ path });
    return typeof body === 'string' ? body : JSON.stringify(body);
  }

  /** Records of all pods, as far as they are JSON. */
  async records(): Promise<readonly LogRecord[]> {
    const logs = await Promise.all(
      (await this.pods()).map(async ({ metadata }) => await this.log(metadata.name)),
    );
    return logs.join('\n').split('\n').flatMap(parseRecord);
  }

  /** The state and the end of the log of each pod, for messages of failures. */
  async describe(): Promise<string> {
    const parts: string[] = [];
    for (const pod of await this.pods()) {
      const log = await this.log(pod.metadata.name, '&tailLines=30');
      parts.push(`${pod.metadata.name}: ${JSON.stringify(pod.status)}\n${log}`);
    }
    return parts.join('\n');
  }

  async loadImage(): Promise<void> {
    const { modulesDir, globalHooksDir, files = {} } = this.#spec;
    const content = join(this.#directory, 'content');
    await mkdir(join(content, 'modules'), { recursive: true });
    await mkdir(join(content, 'global-hooks'), { recursive: true });
    if (modulesDir !== undefined) await copy(modulesDir, join(content, 'modules'));
    if (globalHooksDir !== undefined) await copy(globalHooksDir, join(content, 'global-hooks'));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(content, path)), { recursive: true });
      await writeFile(join(content, path), text);
      await chmod(join(content, path), 0o755);
    }
    const archive = join(this.#directory, 'image.tar');
    await writeImage(archive, `${this.image}:test`, { base: this.#shared.operatorImage, content });
    await this.#shared.node.load(archive);
    await rm(archive);
  }

  /** Writes the permissions as values of the chart. */
  async writeRules(): Promise<void> {
    const { permissions = 'least' } = this.#spec;
    const administrator = 'rbac: {clusterAdmin: true}\n';
    await writeFile(this.#rules, permissions === 'least' ? await this.#leastRules() : administrator);
  }

  async #leastRules(): Promise<string> {
    const content = join(this.#directory, 'content');
    const flags = {
      namespace: this.namespace,
      'kube-config': this.#shared.node.kubeconfigPath,
      'modules-dir': join(content, 'modules'),
      'global-hooks-dir': join(content, 'global-hooks'),
    };
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    const { stdout } = await execa(PROGRAM, ['rbac', ...args, '-o', 'values'], { stdin: 'ignore' });
    return stdout;
  }

  get #rules(): string {
    return join(this.#directory, 'rules.yaml');
  }
}

export interface LogRecord {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

function parseRecord(line: string): readonly LogRecord[] {
  try {
    return [JSON.parse(line) as LogRecord];
  } catch {
    return [];
  }
}

async function copy(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
}
