import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { silentLogger } from '@addon-operator/base/log';
import type { HelmBinary } from '@addon-operator/helm/find-helm';
import { PreparedHelm } from '@addon-operator/helm/prepared-helm';
import { createHolder, LockAges } from '@addon-operator/helm/release-locks';
import { encodeRelease } from '@addon-operator/helm/release-record';
import { ReleaseStore } from '@addon-operator/helm/release-store';
import { RenderGateScript } from '@addon-operator/helm/render-gate';
import { SharedReads } from '@addon-operator/helm/shared-reads';
import { Discovery } from '@addon-operator/kube-client/discovery';
import { type KubeRequest, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { machineClock, type Sandbox, silentLog, startSandbox } from '@addon-operator/kube-sandbox';
import { MemoryClient } from '@addon-operator/kube-sandbox/memory-client';
import type { ProcessResult, ProcessRunner, ProcessSpec } from '@addon-operator/process/process-runner';
import { parseYaml } from '@addon-operator/yaml';
import { execa } from 'execa';
import { type DeployRequest, type DeployResult, deployRelease } from '../../src/releases/deploy.ts';
import { type DriverContext, ReleaseNotices } from '../../src/releases/driver-context.ts';
import { type UninstallResult, uninstallRelease } from '../../src/releases/uninstall.ts';
import { FakeClock } from './fake-clock.ts';

const NAMESPACE = 'ops';
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const HELM: HelmBinary = { path: '/bin/helm', version: '3.19.5', major: 3, minor: 19 };
const PID = 4711;
const never = new AbortController().signal;

/** What the next helm does after its start. */
type HelmEnd = 'succeeds' | 'cannot render' | 'cannot apply' | 'times out';

/** A revision of the release `web`. */
interface RecordFields {
  readonly status: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: one that can be read. */
  readonly content?: string;
  readonly finalizers?: readonly string[];
}

/** Labels of a revision that a process of this operator has started helm for. */
export function labelsOfHolder(revision: number, holder: string): Readonly<Record<string, string>> {
  return {
    'addon-operator/owner': 'addon-operator',
    'addon-operator/revision': String(revision),
    'addon-operator/holder': holder,
  };
}

export function configMap(name: string, data: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {text: ${data}}\n`;
}

/**
 * Deploys the module `web`, a chart with one ConfigMap, on a sandbox. helm is a fake that passes the templates unchanged
 * through the post-renderer and writes records as helm does; everything else is real.
 */
export class DeployLab implements AsyncDisposable {
  readonly clock = new FakeClock();
  /** The commands of helm so far, with what decides how it takes the release. */
  readonly helmRuns: string[] = [];
  /** How the next runs of helm end; after them it succeeds. */
  readonly helmEnds: HelmEnd[] = [];
  /** Called when helm has started. */
  onHelm: () => void = () => undefined;
  readonly #sandbox: Sandbox;
  readonly #kube: MemoryClient;
  readonly #root: string;
  readonly #context: DriverContext;

  private constructor(sandbox: Sandbox, root: string, gateScript: RenderGateScript) {
    this.#sandbox = sandbox;
    this.#root = root;
    this.#kube = new MemoryClient(sandbox, { touch: () => undefined, begin: () => () => undefined }, 'lab');
    const { clock } = this;
    this.#context = {
      runner: { run: (spec, signal) => this.#run(spec, signal) } satisfies ProcessRunner,
      kube: this.#kube,
      discovery: new Discovery({ kube: this.#kube, clock, log: silentLogger }),
      clock,
      log: silentLogger,
      helm: HELM,
      env: { PATH: process.env['PATH'] ?? '' },
      workDir: join(root, 'work'),
      namespace: NAMESPACE,
      kubeContext: '',
      historyMax: 10,
      timeoutMs: 20 * 60_000,
      extraLabels: { heritage: 'addon-operator' },
      store: new ReleaseStore({ kube: this.#kube, namespace: NAMESPACE, storageDriver: 'secret' }),
      prepared: new PreparedHelm({ clock, log: silentLogger, places: 1 }),
      sharedReads: new SharedReads(clock),
      gateScript,
      holder: createHolder('host', PID, 'own'),
      lockAges: new LockAges(clock),
      notices: new ReleaseNotices(silentLogger),
      readYaml,
      reports: { onOperation: () => undefined, onLeftBehind: () => undefined },
    };
  }

  static async open(): Promise<DeployLab> {
    const root = await mkdtemp(join(tmpdir(), 'deploy-lab-'));
    const workDir = join(root, 'work');
    await mkdir(workDir);
    const sandbox = await startSandbox({ clock: machineClock, log: silentLog }, never);
    const lab = new DeployLab(sandbox, root, await RenderGateScript.install(workDir, HELM));
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await lab.request({ method: 'POST', path: '/api/v1/namespaces', body });
    await lab.put({
      'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
      'templates/a.yaml': configMap('a', 'first'),
    });
    return lab;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sandbox.stop();
    await rm(this.#root, { recursive: true, force: true });
  }

  /** Writes files of the module; undefined removes one. */
  async put(files: Readonly<Record<string, string | undefined>>): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.#root, 'web', name);
      await mkdir(dirname(path), { recursive: true });
      if (content === undefined) await rm(path, { recursive: true });
      else await writeFile(path, content);
    }
  }

  async deploy(request: Partial<DeployRequest> = {}, signal = never): Promise<DeployResult> {
    const module = { name: 'web', path: join(this.#root, 'web') };
    return await deployRelease(this.#context, { module, values: {}, ...request }, signal);
  }

  /** Reads the releases of all modules at once, which is shared from then on. */
  async readAll(): Promise<void> {
    const { sharedReads, store } = this.#context;
    await sharedReads.readReleases(() => store.latestOfAll(never));
  }

  async uninstall(signal = never): Promise<UninstallResult> {
    return await uninstallRelease(this.#context, 'web', {}, signal);
  }

  async request(request: KubeRequest): Promise<unknown> {
    return await this.#kube.request(request, never);
  }

  /** A ConfigMap; undefined without one. */
  async object(name: string): Promise<KubeObject | undefined> {
    const path = `${CONFIG_MAPS}/${name}`;
    return (await requestIfPresent(this.#kube, { method: 'GET', path }, never)) as KubeObject | undefined;
  }

  async deleteObject(name: string): Promise<void> {
    await this.request({ method: 'DELETE', path: `${CONFIG_MAPS}/${name}` });
  }

  /** Creates the record of a revision. */
  async addRecord(
    revision: number,
    { status, labels = {}, content, finalizers = [] }: RecordFields,
  ): Promise<void> {
    const release = content ?? (await encodeRelease({ name: 'web', info: { status }, manifest: '' }));
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: recordName(revision),
        finalizers,
        labels: { owner: 'helm', name: 'web', version: String(revision), status, ...labels },
      },
      data: { release: Buffer.from(release).toString('base64') },
    };
    await this.request({ method: 'POST', path: SECRETS, body });
  }

  /** Changes labels of the record of a revision; null removes one. */
  async labelRecord(revision: number, labels: Readonly<Record<string, string | null>>): Promise<void> {
    const path = `${SECRETS}/${recordName(revision)}`;
    const body = { metadata: { labels } };
    await this.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
  }

  /** Each record of the release with its status, `unreadable` for one that was moved aside. */
  async records(): Promise<readonly string[]> {
    const list = (await this.request({ method: 'GET', path: SECRETS })) as {
      readonly items: readonly KubeObject[];
    };
    return list.items
      .map(({ metadata }) => ({ name: metadata.name, labels: metadata.labels ?? {} }))
      .map(({ name, labels }) => `${name.split('.')[5] ?? name} ${labels['status'] ?? 'unreadable'}`)
      .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  async #run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult> {
    if (spec.file === 'mkfifo') {
      await promisify(execFile)(spec.file, spec.args);
      return ended(0);
    }
    const { args } = spec;
    this.helmRuns.push(args.slice(0, 2).join(' '));
    this.onHelm();
    signal.throwIfAborted();
    const end = this.helmEnds.shift() ?? 'succeeds';
    if (end === 'times out')
      return { ...ended(1), outcome: { type: 'timed-out', timeoutMs: spec.timeoutMs ?? 0 } };
    if (end === 'cannot render') return ended(1, 'Error: no template "x"\n');
    const chartDir = args.at(-1) ?? '';
    const postRenderer = args.flatMap((arg, index) =>
      arg.startsWith('--post-renderer') ? [args[index + 1] ?? ''] : [],
    );
    const [file = '', ...rest] = postRenderer;
    const rendered = await execa(file, rest, { input: await templatesOf(chartDir), reject: false });
    if (rendered.exitCode !== 0) return ended(1, `Error: ${rendered.stderr}\n`);
    const labels = labelsOf(args);
    const isApplied = end === 'succeeds';
    if (isApplied) for (const text of documents(rendered.stdout)) await this.#apply(text);
    await this.#record(labels, isApplied ? 'deployed' : 'failed', rendered.stdout);
    return isApplied ? ended(0) : ended(1, 'Error: services is full\n');
  }

  async #apply(text: string): Promise<void> {
    const object = readYaml(text) as KubeObject;
    await this.request({
      method: 'PATCH',
      path: `${CONFIG_MAPS}/${object.metadata.name}`,
      query: { fieldManager: 'helm', force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: object,
    });
  }

  async #record(labels: Readonly<Record<string, string>>, status: string, manifest: string): Promise<void> {
    const revisions = (await this.records()).filter((record) => !record.endsWith(' unreadable'));
    const last = Math.max(0, ...revisions.map((record) => Number.parseInt(record.slice(1), 10)));
    if (status === 'deployed')
      for (const record of revisions.filter((one) => one.endsWith(' deployed')))
        await this.labelRecord(Number.parseInt(record.slice(1), 10), { status: 'superseded' });
    const content = await encodeRelease({ name: 'web', info: { status }, manifest });
    await this.addRecord(last + 1, { status, labels, content });
  }
}

function readYaml(text: string): unknown {
  return parseYaml(text, { source: 'manifest', booleans: 'yaml-1.1' }).value;
}

function recordName(revision: number): string {
  return `sh.helm.release.v1.web.v${revision}`;
}

function ended(exitCode: number, stderr = ''): ProcessResult {
  const outcome = { type: 'exited', exitCode } as const;
  return { outcome, stdout: '', stderr, isStdoutTruncated: false, durationMs: 0 };
}

/** The labels of helm's command line; `null` there removes one. */
function labelsOf(args: readonly string[]): Readonly<Record<string, string>> {
  const list = args[args.indexOf('--labels') + 1] ?? '';
  const pairs = list.split(',').map((pair) => pair.split('=') as [string, string]);
  return Object.fromEntries(pairs.filter(([, value]) => value !== 'null'));
}

async function templatesOf(chartDir: string): Promise<string> {
  const directory = join(chartDir, 'templates');
  const names = (await readdir(directory)).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return texts.map((text, index) => `---\n# Source: web/templates/${names[index]}\n${text}`).join('');
}

function documents(manifest: string): readonly string[] {
  return manifest.split(/^---$/m).filter((text) => text.trim() !== '');
}
