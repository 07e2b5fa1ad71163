import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@addon-operator/base/clock';
import { findExecutable } from '@addon-operator/process/executable-file';
import { rememberVersion } from '@addon-operator/process/remembered-version';
import { type Daemon, startDaemon } from '../../src/app/start.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { CapturedLog } from './captured-log.ts';
import type { ApiResponse, ProbeRequest } from './control-plane/api-probe.ts';
import { GO_SETTINGS } from './go-settings.ts';
import { JumpClock } from './jump-clock.ts';
import { type FileTree, writeTree } from './world-files.ts';

/** An API server that tests run on. */
export interface Backend {
  readonly name: 'sandbox' | 'control plane';
  readonly kubeconfigPath: string;
  readonly helmPath: string;
  /** Whether namespaces of worlds stay: to delete one costs a real control plane 0.2 s of CPU time. */
  readonly keepsNamespaces: boolean;
  request(request: ProbeRequest): Promise<ApiResponse>;
}

type Variables = Readonly<Record<string, string>>;

export interface WorldOptions {
  /** Files below the modules directory. */
  readonly modules?: FileTree;
  /** Files below the global hooks directory. */
  readonly globalHooks?: FileTree;
  /** Data of the ConfigMap; without it there is none. */
  readonly config?: Readonly<Record<string, string>>;
  /** Default: one of its own. */
  readonly namespace?: string;
  /** Directories that exist already, in place of those made from `modules` and `globalHooks`; MODULES_DIR takes colons. */
  readonly directories?: { readonly modules?: string; readonly globalHooks?: string };
  readonly flags?: Readonly<Record<string, string>>;
  /** Variables of the settings; a function gets the directory of the world. */
  readonly env?: Variables | ((directory: string) => Variables);
  /** Added to the environment of hooks. */
  readonly hookEnv?: Readonly<Record<string, string>>;
  /** Log records of level debug say where they were made. */
  readonly hasLogSources?: true;
}

/** One namespace, one set of directories and one daemon, in this process. */
export class World {
  readonly clock = new JumpClock();
  readonly log: CapturedLog;
  readonly backend: Backend;
  readonly namespace: string;
  readonly directory: string;
  readonly #options: WorldOptions;
  #daemon: Daemon | undefined;

  private constructor(backend: Backend, namespace: string, directory: string, options: WorldOptions) {
    this.backend = backend;
    this.namespace = namespace;
    this.directory = directory;
    this.#options = options;
    this.log = new CapturedLog(this.clock, options.hasLogSources);
  }

  /** Writes everything down; the daemon is not started yet. */
  static async create(backend: Backend, options: WorldOptions): Promise<World> {
    const directory = await mkdtemp(join(tmpdir(), 'world-'));
    const namespace = options.namespace ?? `world-${Math.random().toString(36).slice(2, 10)}`;
    const world = new World(backend, namespace, directory, options);
    await writeTree(join(directory, 'modules'), options.modules ?? {});
    await writeTree(join(directory, 'global-hooks'), options.globalHooks ?? {});
    await writeTree(directory, { helm: countingHelm(directory, backend.helmPath) });
    rememberTools(directory, backend.helmPath);
    await world.expect({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    });
    if (options.config !== undefined) await world.putConfig(options.config);
    return world;
  }

  get daemon(): Daemon {
    if (this.#daemon === undefined) throw new Error('the daemon of this world is not running');
    return this.#daemon;
  }

  /** Flags of a daemon in this world. */
  get flags(): Readonly<Record<string, string>> {
    return {
      namespace: this.namespace,
      'tmp-dir': join(this.directory, 'tmp'),
      'debug-unix-socket': join(this.directory, 'debug.socket'),
      'kube-config': this.backend.kubeconfigPath,
      'helm-bin-path': join(this.directory, 'helm'),
      'prometheus-listen-address': '127.0.0.1',
      'prometheus-listen-port': '0',
      'shutdown-grace': '2s',
      // The servers of hooks in tests are on this machine.
      'http-hook-allowed-hosts': '*.svc,localhost,127.0.0.1',
      // Modules have no namespace: worlds would meet each other in them.
      'module-objects': 'false',
      ...this.#options.flags,
    };
  }

  /** Settings that have no flag. */
  get settingsEnv(): Readonly<Record<string, string>> {
    const { env = {}, directories = {} } = this.#options;
    return {
      MODULES_DIR: directories.modules ?? join(this.directory, 'modules'),
      GLOBAL_HOOKS_DIR: directories.globalHooks ?? join(this.directory, 'global-hooks'),
      ...(typeof env === 'function' ? env(this.directory) : env),
    };
  }

  /** Environment of hooks and helm. */
  get hostEnv(): Readonly<Record<string, string | undefined>> {
    return {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      HOME: this.directory,
      WORLD: this.directory,
      NAMESPACE: this.namespace,
      ...this.#options.hookEnv,
    };
  }

  /** Starts the daemon; resolves when its queues run. */
  async start(signal = new AbortController().signal): Promise<void> {
    const settings = readSettings({ flags: this.flags, env: this.settingsEnv });
    // Without the flag everything is logged: tests look at it.
    if (this.#options.flags?.['log-level'] !== undefined) this.log.logger.setLevel(settings.logLevel);
    this.#daemon = await startDaemon(
      settings,
      {
        env: this.hostEnv,
        cwd: this.directory,
        clock: this.clock,
        steadyClock: systemClock,
        random: () => 0,
        log: this.log.logger,
        version: '0.0.0-test',
      },
      signal,
    );
  }

  /** Starts the daemon and waits for the end of the first converge. */
  async converge(): Promise<void> {
    await this.start();
    await this.daemon.firstConverge;
  }

  async stop(): Promise<void> {
    await this.#daemon?.stop();
    this.#daemon = undefined;
  }

  /** Stops the daemon and removes what the world made, but for the namespace where the backend keeps it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    if (!this.backend.keepsNamespaces) {
      await this.backend.request({ method: 'DELETE', path: `/api/v1/namespaces/${this.namespace}` });
    }
    // A helm whose daemon was killed may write there for a moment longer.
    await rm(this.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  /** As `backend.request`, but a status outside 2xx is an error. */
  async expect(request: ProbeRequest): Promise<unknown> {
    const { status, body } = await this.backend.request(request);
    if (status >= 200 && status < 300) return body;
    throw new Error(`${request.method ?? 'GET'} ${request.path} answered ${status}: ${JSON.stringify(body)}`);
  }

  /** An object of the core group in our namespace; undefined if there is none. */
  async get(plural: string, name: string): Promise<Record<string, unknown> | undefined> {
    const { status, body } = await this.backend.request({ path: this.path(plural, name) });
    return status === 404 ? undefined : (body as Record<string, unknown>);
  }

  path(plural: string, name?: string): string {
    return `/api/v1/namespaces/${this.namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  }

  async create(plural: string, object: { readonly metadata: { readonly name: string } }): Promise<void> {
    await this.expect({ method: 'POST', path: this.path(plural), body: { apiVersion: 'v1', ...object } });
  }

  async merge(plural: string, name: string, patch: object): Promise<void> {
    await this.expect({
      method: 'PATCH',
      path: this.path(plural, name),
      body: patch,
      contentType: 'application/merge-patch+json',
    });
  }

  /** Replaces the data of ConfigMap/addon-operator, which is created if missing. */
  async putConfig(data: Readonly<Record<string, string>>): Promise<void> {
    const name = 'addon-operator';
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
    const { status } = await this.backend.request({
      method: 'PUT',
      path: this.path('configmaps', name),
      body,
    });
    if (status === 404) await this.expect({ method: 'POST', path: this.path('configmaps'), body });
    else if (status >= 300) throw new Error(`cannot write the ConfigMap: ${status}`);
  }

  /** Writes files below the modules or global hooks directory. */
  async write(directory: 'modules' | 'global-hooks', files: FileTree): Promise<void> {
    await writeTree(join(this.directory, directory), files);
  }

  /** The arguments of every helm process so far, but those that ask for its version. */
  async helmCalls(): Promise<string[]> {
    const text = await readFile(join(this.directory, 'helm-calls'), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('version'));
  }

  /** Removes a file beside the modules directory. */
  async expel(name: string): Promise<void> {
    await rm(join(this.directory, name));
  }

  /** Waits until the head of a queue sleeps after a failure, and returns the delay in milliseconds. */
  async untilDelayed(queue = 'main'): Promise<number> {
    const delay = (): number | undefined => {
      const { status } = this.daemon.operator.queues.get(queue);
      return status.type === 'delayed' ? status.delayMs : undefined;
    };
    await this.log.until(() => delay() !== undefined);
    return delay() ?? 0;
  }

  /** Waits for a failure in a queue, then lets the delay before the next attempt pass. Returns the delay. */
  async passDelay(queue = 'main'): Promise<number> {
    const delayMs = await this.untilDelayed(queue);
    const waiting = this.daemon.operator.queues.get(queue);
    const { status } = waiting;
    this.clock.jump(delayMs);
    // Who waits for the next failure must not find this one.
    while (status.type === 'delayed' && waiting.status === status) await setImmediate();
    return delayMs;
  }
}

/** The real helm, which notes how it was called. */
function countingHelm(directory: string, helmPath: string): string {
  const settings = Object.entries(GO_SETTINGS).map(([name, value]) => `${name}=${value}`);
  return `#!/bin/sh
echo "$*" >> '${directory}/helm-calls'
${settings.join(' ')} exec '${helmPath}' "$@"
`;
}

/** By path: each start of a daemon would run both programs to learn what they are. */
const versions = new Map<string, string>();

/** Notes which helm and jq a world has, as a daemon does that started there before. */
function rememberTools(directory: string, helmPath: string): void {
  const versionOf = (file: string, ...args: readonly string[]): string => {
    const version = versions.get(file) ?? execFileSync(file, args, { encoding: 'utf8' });
    versions.set(file, version);
    return version;
  };
  const helm = versionOf(helmPath, 'version', '--template', '{{.Version}}');
  rememberVersion(join(directory, 'tmp/helm/version.json'), join(directory, 'helm'), helm);
  const jq = findExecutable('jq', process.env['PATH'] ?? '');
  if (jq !== undefined)
    rememberVersion(join(directory, 'tmp/jq-version.json'), jq, versionOf(jq, '--version'));
}
