import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../../src/tools/pinned-tools/pinned-tools.ts';
import { CHART } from '../control-plane/operator-chart.ts';
import type { HelmVersion } from '../control-plane/programs.ts';
import { writeImage } from './images.ts';
import type { SharedNode } from './node-suite.ts';
import { PortForward } from './port-forward.ts';

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
  /** Those of the files that only root may read and execute. */
  readonly unreadable?: readonly string[];
  /** Repository of an image on the node with the tag `test`, which is used instead of a new one. */
  readonly image?: string;
  /** Directory of the chart that is installed first; default: the chart of the checkout. */
  readonly firstChart?: string;
  /** Values of the chart, as `--set-json` takes them. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Default: 4.1.4. */
  readonly helm?: HelmVersion;
  /** Default: what `rbac` prints for the modules and hooks. */
  readonly permissions?: 'least' | 'administrator';
}

const MODULES = 'modules.addon-operator.io';

interface ModuleObjects {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  }[];
}

interface PodList {
  readonly items: readonly PodObject[];
}

export interface PodObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly restartCount: number;
      readonly state: { readonly terminated?: Termination };
      readonly lastState: { readonly terminated?: Termination };
    }[];
  };
}

interface Termination {
  readonly reason: string;
  readonly exitCode: number;
  readonly message?: string;
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
      if (spec.image === undefined) await operator.loadImage();
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
      await operator.#upgradeTo(spec.firstChart ?? CHART);
      return operator;
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { probe } = this.#shared.node;
    const inNamespace = ['--namespace', this.namespace];
    await this.helm('uninstall', RELEASE, '--wait', '--ignore-not-found', ...inNamespace).catch(ignore);
    // Objects that modules have in other namespaces would belong to a release that is gone.
    const left = await this.helm('list', '--short', ...inNamespace).catch(ignore);
    for (const release of left?.split('\n') ?? []) {
      if (release !== '') await this.helm('uninstall', release, '--no-hooks', ...inNamespace).catch(ignore);
    }
    await this.#deleteModuleObjects().catch(ignore);
    await probe.request({ method: 'DELETE', path: `/api/v1/namespaces/${this.namespace}` });
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** They are in no namespace: another operator would take them for those of one that works. */
  async #deleteModuleObjects(): Promise<void> {
    const { items } = JSON.parse(
      await this.kubectl('get', MODULES, '--ignore-not-found', '--output=json'),
    ) as ModuleObjects;
    for (const { metadata } of items) {
      const owner = metadata.annotations?.['addon-operator.io/operator'] ?? '';
      if (!owner.startsWith(`${this.namespace}/`)) continue;
      const released = '{"metadata":{"finalizers":null}}';
      await this.kubectl('patch', MODULES, metadata.name, '--type=merge', '--patch', released);
      await this.kubectl('delete', MODULES, metadata.name, '--ignore-not-found');
    }
  }

  get image(): string {
    return this.#spec.image ?? `localhost/${this.namespace}`;
  }

  /** `helm upgrade --install --wait` of the chart; flags are added at the end. An error contains what the pods log. */
  async upgrade(...flags: readonly string[]): Promise<void> {
    await this.#upgradeTo(CHART, ...flags);
  }

  /** As {@link upgrade}, without waiting until the operator is ready. */
  async startUpgrade(...flags: readonly string[]): Promise<void> {
    await this.#helmUpgrade(CHART, ...flags);
  }

  async #upgradeTo(chart: string, ...flags: readonly string[]): Promise<void> {
    try {
      await this.#helmUpgrade(chart, '--wait', '--timeout', HELM_TIMEOUT, ...flags);
    } catch (error) {
      throw new Error(`Cannot install the chart in ${this.namespace}:\n${await this.describe()}`, {
        cause: error,
      });
    }
  }

  async #helmUpgrade(chart: string, ...flags: readonly string[]): Promise<void> {
    const { values = {} } = this.#spec;
    const set = Object.entries({ 'image.repository': this.image, 'image.tag': 'test', ...values });
    const args = set.flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]);
    const install = ['upgrade', '--install', RELEASE, chart, '--namespace', this.namespace];
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

  /** What a command of the pinned kubectl prints, in the namespace of the operator. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const flags = [`--kubeconfig=${this.#shared.node.kubeconfigPath}`, `--namespace=${this.namespace}`];
    return (await execa(await findKubectl(), [...flags, ...args], { stdin: 'ignore' })).stdout;
  }

  /** Forwards a free port of this machine to one of the operator's pod, until it is disposed. */
  async forward(port: number): Promise<PortForward> {
    return await PortForward.start(await findKubectl(), [
      `--kubeconfig=${this.#shared.node.kubeconfigPath}`,
      `--namespace=${this.namespace}`,
      'port-forward',
      `deploy/${RELEASE}`,
      `:${port}`,
    ]);
  }

  /** What a command prints in the container of the operator. */
  async exec(...command: readonly string[]): Promise<string> {
    return await this.kubectl('exec', `deploy/${RELEASE}`, '--container=addon-operator', '--', ...command);
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
    const { modulesDir, globalHooksDir, files = {}, unreadable = [] } = this.#spec;
    const content = join(this.#directory, 'content');
    await mkdir(join(content, 'modules'), { recursive: true });
    await mkdir(join(content, 'global-hooks'), { recursive: true });
    if (modulesDir !== undefined) await copy(modulesDir, join(content, 'modules'));
    if (globalHooksDir !== undefined) await copy(globalHooksDir, join(content, 'global-hooks'));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(content, path)), { recursive: true });
      await writeFile(join(content, path), text);
      await chmod(join(content, path), unreadable.includes(path) ? 0o700 : 0o755);
    }
    await loadOnTop(this.#shared, this.image, content);
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

  /** Takes the permissions that `rbac` prints in the pod, which knows what hooks have patched. The next upgrade grants them. */
  async adoptRules(): Promise<void> {
    await writeFile(this.#rules, await this.exec('addon-operator', 'rbac', '-o', 'values'));
  }

  get #rules(): string {
    return join(this.#directory, 'rules.yaml');
  }
}

/** Puts the image of the operator with more files on the node, under this name and the tag `test`. */
export async function loadOnTop(
  { node, operatorImage }: SharedNode,
  name: string,
  content: string,
): Promise<void> {
  const archive = join(node.directory, 'on-top.tar');
  await writeImage(archive, `${name}:test`, { base: operatorImage, content });
  await node.load(archive);
  await rm(archive);
}

async function findKubectl(): Promise<string> {
  const cacheDir = cacheDirectory(process.env, homedir());
  const options = { cacheDir, onProgress: (message: string) => console.warn(message) };
  return await pinnedKubectl(options, new AbortController().signal);
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

function ignore(): undefined {
  return undefined;
}
