import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@addon-operator/base/clock';
import { GO_SETTINGS } from '../go-settings.ts';
import { type ApiAccess, ApiProbe } from './api-probe.ts';
import { type Certificates, createCertificates } from './certificates.ts';
import { freePorts } from './free-ports.ts';
import { GuardedProcess } from './guarded-process.ts';
import { adminKubeconfig } from './kubeconfig.ts';
import { ProcessGuard } from './process-guard.ts';
import type { ControlPlanePrograms } from './programs.ts';

const POLL_MS = 50;
const READY_TIMEOUT_MS = 120_000;
/** How often a whole start is tried: a port found free may be taken before it is used. */
const MAX_START_ATTEMPTS = 3;

export interface ControlPlaneOptions {
  readonly programs: ControlPlanePrograms;
  /** Appended to the flags of kube-apiserver; a repeated flag wins. */
  readonly apiserverFlags?: readonly string[];
  /** Appended to the flags of etcd. */
  readonly etcdFlags?: readonly string[];
  readonly clock?: Clock;
}

interface Ports {
  readonly etcdClient: number;
  readonly etcdPeer: number;
  readonly apiserver: number;
}

interface Parts {
  readonly options: ControlPlaneOptions;
  readonly directory: string;
  readonly guard: ProcessGuard;
  readonly certificates: Certificates;
  readonly ports: Ports;
}

/**
 * A real etcd, kube-apiserver and kube-controller-manager on loopback, with a certificate authority and a directory of
 * their own. Nothing of it outlives this process.
 */
export class ControlPlane {
  readonly directory: string;
  readonly certificates: Certificates;
  readonly serverUrl: string;
  /** Plain HTTP; the gateway (`POST /v3/kv/compaction`) answers here. */
  readonly etcdUrl: string;
  /** Data of etcd, to copy or replace while it does not run. */
  readonly etcdDirectory: string;
  readonly kubeconfigPath: string;
  readonly access: ApiAccess;
  readonly probe: ApiProbe;
  readonly #parts: Parts;
  readonly #clock: Clock;
  #etcd: GuardedProcess | undefined;
  #apiserver: GuardedProcess | undefined;
  #controllerManager: GuardedProcess | undefined;

  private constructor(parts: Parts) {
    const { certificates, directory, ports } = parts;
    this.#parts = parts;
    this.#clock = parts.options.clock ?? systemClock;
    this.directory = directory;
    this.certificates = certificates;
    this.serverUrl = `https://127.0.0.1:${ports.apiserver}`;
    this.etcdUrl = `http://127.0.0.1:${ports.etcdClient}`;
    this.etcdDirectory = join(directory, 'etcd');
    this.kubeconfigPath = join(directory, 'kubeconfig');
    this.access = {
      serverUrl: this.serverUrl,
      caFile: certificates.caFile,
      certFile: certificates.adminCertFile,
      keyFile: certificates.adminKeyFile,
    };
    this.probe = new ApiProbe(this.access);
  }

  /** Starts everything and resolves when the API server is ready and the default namespace exists (about 10 s). */
  static async start(options: ControlPlaneOptions, signal: AbortSignal): Promise<ControlPlane> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ControlPlane.#tryStart(options, signal);
      } catch (error) {
        signal.throwIfAborted();
        const isPortTaken = error instanceof Error && error.message.includes('address already in use');
        if (!isPortTaken || attempt === MAX_START_ATTEMPTS) throw error;
      }
    }
  }

  static async #tryStart(options: ControlPlaneOptions, signal: AbortSignal): Promise<ControlPlane> {
    const directory = await mkdtemp(join(tmpdir(), 'control-plane-'));
    const guard = ProcessGuard.start(directory);
    try {
      const certificates = await createCertificates(directory, signal);
      const [etcdClient = 0, etcdPeer = 0, apiserver = 0] = await freePorts(3);
      const ports = { etcdClient, etcdPeer, apiserver };
      const plane = new ControlPlane({ options, directory, guard, certificates, ports });
      await mkdir(join(directory, 'logs'));
      await writeFile(plane.kubeconfigPath, adminKubeconfig(plane.access), { mode: 0o600 });
      await plane.startAll(signal);
      return plane;
    } catch (error) {
      await guard.close();
      throw error;
    }
  }

  /** Kills all processes and removes the directory. */
  async stop(): Promise<void> {
    await this.killAll();
    await this.#parts.guard.close();
  }

  /** SIGKILL of all processes. What etcd has stored stays in {@link etcdDirectory}, and may be changed until {@link startAll}. */
  async killAll(): Promise<void> {
    const running = [this.#controllerManager, this.#apiserver, this.#etcd];
    await Promise.all(running.map(async (one) => await one?.kill()));
  }

  /** Starts all processes on their ports; resolves when the API server is ready. */
  async startAll(signal: AbortSignal): Promise<void> {
    const { programs } = this.#parts.options;
    this.#etcd = await this.#spawn('etcd', programs.etcd, this.#etcdFlags());
    await this.startApiserver(signal);
    this.#controllerManager = await this.#spawn(
      'kube-controller-manager',
      programs.kubeControllerManager,
      this.#controllerManagerFlags(),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** SIGKILL; connections break at once, etcd keeps the state. */
  async killApiserver(): Promise<void> {
    await this.#apiserver?.kill();
  }

  /** Starts the API server on its port (after {@link killApiserver}) and resolves when it is ready. */
  async startApiserver(signal: AbortSignal): Promise<void> {
    this.#apiserver = await this.#spawn(
      'kube-apiserver',
      this.#parts.options.programs.kubeApiserver,
      this.#apiserverFlags(),
    );
    await this.untilReady(signal);
  }

  async restartApiserver(signal: AbortSignal): Promise<void> {
    await this.killApiserver();
    await this.startApiserver(signal);
  }

  /** SIGSTOP: connections stay open and nothing answers. */
  pauseApiserver(): void {
    this.#apiserver?.signal('SIGSTOP');
  }

  resumeApiserver(): void {
    this.#apiserver?.signal('SIGCONT');
  }

  pauseEtcd(): void {
    this.#etcd?.signal('SIGSTOP');
  }

  resumeEtcd(): void {
    this.#etcd?.signal('SIGCONT');
  }

  /** Resolves when the API server is ready; throws, with the end of its log, when it died or took over two minutes. */
  async untilReady(signal: AbortSignal): Promise<void> {
    const deadlineMs = this.#clock.steadyMs() + READY_TIMEOUT_MS;
    while (!(await this.#isReady())) {
      for (const process of [this.#etcd, this.#apiserver]) {
        if (process?.isRunning === false) throw new Error(`${process.name} died:\n${process.logTail}`);
      }
      if (this.#clock.steadyMs() > deadlineMs) {
        throw new Error(`kube-apiserver is not ready after 2 minutes:\n${this.#apiserver?.logTail}`);
      }
      await this.#clock.sleep(POLL_MS, signal);
    }
  }

  async #isReady(): Promise<boolean> {
    for (const path of ['/readyz', '/api/v1/namespaces/default']) {
      const response = await this.probe.request({ path }).catch(() => undefined);
      if (response?.status !== 200) return false;
    }
    return true;
  }

  async #spawn(name: string, file: string, args: readonly string[]): Promise<GuardedProcess> {
    const { directory, guard } = this.#parts;
    const logFile = join(directory, 'logs', `${name}.log`);
    return await GuardedProcess.start({
      name,
      file,
      args,
      cwd: directory,
      logFile,
      guard,
      env: GO_SETTINGS,
    });
  }

  #etcdFlags(): string[] {
    const peerUrl = `http://127.0.0.1:${this.#parts.ports.etcdPeer}`;
    return [
      `--data-dir=${this.etcdDirectory}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
      `--listen-client-urls=${this.etcdUrl}`,
      `--advertise-client-urls=${this.etcdUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      ...(this.#parts.options.etcdFlags ?? []),
    ];
  }

  #apiserverFlags(): string[] {
    const { certificates, options, ports } = this.#parts;
    return [
      `--etcd-servers=${this.etcdUrl}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      `--secure-port=${ports.apiserver}`,
      `--client-ca-file=${certificates.caFile}`,
      `--tls-cert-file=${certificates.serverCertFile}`,
      `--tls-private-key-file=${certificates.serverKeyFile}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${certificates.serviceAccountKeyFile}`,
      `--service-account-signing-key-file=${certificates.serviceAccountKeyFile}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      '--authorization-mode=RBAC',
      // As every installer sets it; the default refuses DaemonSets that tune their nodes.
      '--allow-privileged=true',
      '--disable-admission-plugins=ServiceAccount',
      ...(options.apiserverFlags ?? []),
    ];
  }

  #controllerManagerFlags(): string[] {
    const { certificates } = this.#parts;
    return [
      `--kubeconfig=${this.kubeconfigPath}`,
      '--leader-elect=false',
      '--secure-port=0',
      `--service-account-private-key-file=${certificates.serviceAccountKeyFile}`,
      `--root-ca-file=${certificates.caFile}`,
      '--kube-api-qps=200',
      '--kube-api-burst=400',
    ];
  }
}
