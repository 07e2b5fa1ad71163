import { mkdtemp, readFile, readlink, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Clock, systemClock } from '@addon-operator/base/clock';
import { execa } from 'execa';
import type { ApiAccess, ApiProbe } from '../control-plane/api-probe.ts';
import { freePorts } from '../control-plane/free-ports.ts';
import { GuardedProcess } from '../control-plane/guarded-process.ts';
import { ProcessGuard } from '../control-plane/process-guard.ts';
import { scratchImage } from './images.ts';
import { createCgroups, removeCgroupsScript } from './node-cgroups.ts';
import {
  CONTAINERD_SOCKET,
  DNS_READY,
  NODE_NAME,
  type NodeFiles,
  PAUSE_IMAGE,
  PROXY_HEALTH,
  writeNodeFiles,
} from './node-files.ts';
import { enterCommand, firstProcess, prepareNamespaces, unshareArguments } from './node-namespaces.ts';
import type { NodePrograms } from './node-programs.ts';
import { apiSocket, auditLog, SERVICE_NAMES, type ServiceName, serviceCommands } from './node-services.ts';

const POLL_MS = 100;
/** Twenty times what it takes on an idle machine: it is there to end with the reason. */
const START_TIMEOUT_MS = 600_000;
/** The node runs beside tests; see garbage-collection.ts for what they do. */
const ENVIRONMENT = { GOGC: '100', GOMEMLIMIT: '512MiB' };

interface Parts {
  readonly programs: NodePrograms;
  readonly cgroup: string;
  readonly files: NodeFiles;
  readonly guard: ProcessGuard;
  readonly clock: Clock;
}

/** The node as it runs between two power cuts. */
interface Power {
  readonly root: GuardedProcess;
  /** The first process of the namespaces. */
  readonly first: number;
  readonly startedAt: Date;
  readonly services: Map<ServiceName, GuardedProcess>;
}

/**
 * A real cluster of one node: a control plane, kubelet, kube-proxy, cluster DNS and containerd in namespaces of their own.
 * The routes, mounts, firewall and host name of the machine stay as they are, several nodes can run at once, and nothing
 * of a node outlives this process, even when it is killed.
 */
export class TestNode implements AsyncDisposable {
  readonly directory: string;
  readonly kubeconfigPath: string;
  /** As administrator, from outside. */
  readonly access: ApiAccess;
  readonly probe: ApiProbe;
  readonly #parts: Parts;
  #power: Power | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    const { directory, kubeconfigPath, access: administrator, probe } = parts.files;
    this.directory = directory;
    this.kubeconfigPath = kubeconfigPath;
    this.access = administrator;
    this.probe = probe;
  }

  /** Resolves when the node is ready for pods (about 8 s). Throws with the end of a log when it does not get ready. */
  static async start(
    programs: NodePrograms,
    signal: AbortSignal,
    clock: Clock = systemClock,
  ): Promise<TestNode> {
    const directory = await mkdtemp(join(tmpdir(), 'addon-operator-node-'));
    const cgroup = basename(directory);
    const guard = ProcessGuard.start(directory, removeCgroupsScript(cgroup));
    try {
      const [port = 0] = await freePorts(1);
      const files = await writeNodeFiles(directory, port, cgroup, signal);
      await scratchImage(join(directory, 'pause.tar'), PAUSE_IMAGE, programs.pause);
      const node = new TestNode({ programs, cgroup, files, guard, clock });
      await node.#startProxy(port);
      await node.powerOn(signal);
      return node;
    } catch (error) {
      await guard.close();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Ends everything, pods included, and removes the directory. */
  async stop(): Promise<void> {
    await this.powerCut();
    await this.#parts.guard.close();
  }

  /** All processes of the node and of its pods are gone at once; disks stay. */
  async powerCut(): Promise<void> {
    const power = this.#power;
    if (power === undefined) return;
    this.#power = undefined;
    process.kill(power.first, 'SIGKILL');
    await Promise.all([power.root, ...power.services.values()].map(async (one) => await one.kill()));
    await execa('sh', ['-c', removeCgroupsScript(this.#parts.cgroup)], { stdin: 'ignore' });
  }

  /** Starts the node on its disks. Resolves when it is ready. */
  async powerOn(signal: AbortSignal): Promise<void> {
    const { programs, cgroup } = this.#parts;
    const startedAt = new Date(Math.floor(this.#parts.clock.wallMs() / 1000) * 1000);
    await createCgroups(cgroup);
    const root = await this.#guarded('unshare', ['unshare', ...unshareArguments(programs.pause)]);
    const first = await this.#until(async () => await firstProcess(root.pid), signal);
    this.#power = { root, first, startedAt, services: new Map() };
    // `unshare` mounts /proc between its fork and the start of the program.
    await this.#until(async () => await isProgram(first, programs.pause), signal);
    await prepareNamespaces(first, NODE_NAME, this.directory);
    for (const name of ['containerd', 'etcd', 'kube-apiserver'] as const) await this.startService(name);
    await this.#until(async () => await this.#succeeds('ctr', 'version'), signal);
    await this.load(join(this.directory, 'pause.tar'));
    await this.startService('api-socket');
    await this.#until(async () => (await this.#status('/readyz')) === 200, signal);
    for (const name of SERVICE_NAMES) if (!this.#power.services.has(name)) await this.startService(name);
    await this.#until(async () => await this.#isReady(startedAt), signal);
  }

  /** Runs a command inside, with the network, mounts and processes of the node. Its exit code is not an error. */
  async run(...command: readonly string[]): Promise<CommandResult> {
    const [file, ...args] = enterCommand(this.#running.first, command);
    const { exitCode, stdout, stderr } = await execa(file, args, { reject: false, stdin: 'ignore' });
    return { exitCode, stdout, stderr };
  }

  /** Starts a program of a test inside, beside those of the node; it ends with the node at the latest. */
  async startProgram(name: string, ...command: readonly string[]): Promise<GuardedProcess> {
    return await this.#guarded(name, enterCommand(this.#running.first, command));
  }

  /** Requests of a service account that the API server denied since the node was created: verb and path of each, once. */
  async denials(namespace: string, account: string): Promise<readonly string[]> {
    const log = await readFile(auditLog(this.directory), 'utf8');
    const user = `system:serviceaccount:${namespace}:${account}`;
    const denied = log
      .split('\n')
      .filter((line) => line.includes(`"${user}"`))
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(({ responseStatus }) => responseStatus?.code === 403)
      .filter(({ verb, requestURI }) => verb !== 'get' || !OPTIONAL.test(requestURI))
      .map(({ verb, requestURI, userAgent }) => `${verb} ${requestURI} by ${userAgent}`);
    return [...new Set(denied)];
  }

  /** Imports an image (docker-archive or OCI layout, as a tar) for the pods of the node. */
  async load(archive: string): Promise<void> {
    const ctr = ['ctr', '--address', CONTAINERD_SOCKET, '--namespace', 'k8s.io'];
    const { exitCode, stderr } = await this.run(...ctr, 'images', 'import', archive);
    if (exitCode !== 0) throw new Error(`Cannot import ${archive}: ${stderr}`);
  }

  async startService(name: ServiceName): Promise<void> {
    const power = this.#running;
    const command = serviceCommands(this.#parts.files, this.#parts.programs)[name];
    power.services.set(name, await this.#guarded(name, enterCommand(power.first, command)));
  }

  /** SIGKILL of one program; pods stay. */
  async killService(name: ServiceName): Promise<void> {
    const service = this.#running.services.get(name);
    this.#running.services.delete(name);
    await service?.kill();
  }

  /** SIGSTOP leaves connections open, and nothing answers them until SIGCONT. */
  signalService(name: ServiceName, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#running.services.get(name)?.signal(signal);
  }

  /** The first process of the node, as the machine numbers it: everything on the node ends with it. */
  get firstProcess(): number {
    return this.#running.first;
  }

  /** Path of the log of a program. */
  logFile(name: string): string {
    return join(this.directory, 'log', `${name}.log`);
  }

  get #running(): Power {
    if (this.#power === undefined) throw new Error('The node is off');
    return this.#power;
  }

  /** The API server for clients outside; it stays over power cuts. */
  async #startProxy(port: number): Promise<void> {
    const listen = `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr,backlog=256`;
    await this.#guarded('api-proxy', ['socat', listen, `UNIX-CONNECT:${apiSocket(this.directory)}`]);
  }

  async #guarded(name: string, [file, ...args]: readonly [string, ...string[]]): Promise<GuardedProcess> {
    return await GuardedProcess.start({
      name,
      file,
      args,
      cwd: this.directory,
      logFile: this.logFile(name),
      guard: this.#parts.guard,
      env: ENVIRONMENT,
    });
  }

  async #isReady(since: Date): Promise<boolean> {
    if (!(await this.#isNodeReady(since))) return false;
    if ((await this.#status('/api/v1/namespaces/default/serviceaccounts/default')) !== 200) return false;
    for (const url of [`http://${PROXY_HEALTH}/healthz`, `http://${DNS_READY}/ready`]) {
      if (!(await this.#succeeds('curl', '--silent', '--fail', url))) return false;
    }
    return true;
  }

  /** The store may still contain the condition from before a power cut. */
  async #isNodeReady(since: Date): Promise<boolean> {
    const { body } = await this.probe.request({ path: `/api/v1/nodes/${NODE_NAME}` });
    const { status } = body as {
      readonly status?: { readonly conditions?: readonly NodeCondition[] } | string;
    };
    if (typeof status !== 'object') return false;
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status === 'True' && new Date(ready.lastHeartbeatTime) >= since;
  }

  async #status(path: string): Promise<number | undefined> {
    const response = await this.probe.request({ path }).catch(() => undefined);
    return response?.status;
  }

  async #succeeds(...command: readonly string[]): Promise<boolean> {
    return (await this.run(...command)).exitCode === 0;
  }

  async #until<T>(poll: () => Promise<T>, signal: AbortSignal): Promise<NonNullable<T>> {
    const { clock } = this.#parts;
    const deadlineMs = clock.steadyMs() + START_TIMEOUT_MS;
    for (;;) {
      const result = await poll();
      if (result !== undefined && result !== null && result !== false) return result;
      for (const service of this.#power?.services.values() ?? []) {
        if (!service.isRunning) throw new Error(`${service.name} exited:\n${service.logTail}`);
      }
      if (clock.steadyMs() > deadlineMs) {
        const kubelet = this.#power?.services.get('kubelet')?.logTail ?? '';
        throw new Error(`The node is not ready after 10 minutes. The end of the kubelet's log:\n${kubelet}`);
      }
      await clock.sleep(POLL_MS, signal);
    }
  }
}

export interface CommandResult {
  /** Undefined when a signal ended the command. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the operator looks at if it may: whether its namespace exists, and whether webhooks are left that it should remove. */
const OPTIONAL =
  /^\/api\/v1\/namespaces\/[^/]+$|\/(?:validating|mutating)webhookconfigurations\/shell-operator-hooks-hooks$/;

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly responseStatus?: { readonly code: number };
}

interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly lastHeartbeatTime: string;
}

async function isProgram(pid: number, file: string): Promise<boolean> {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  return program === (await realpath(file));
}
