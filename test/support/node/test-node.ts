import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Clock, systemClock } from '@addon-operator/base/clock';
import type { ApiAccess, ApiProbe } from '../control-plane/api-probe.ts';
import { freePorts } from '../control-plane/free-ports.ts';
import { GuardedProcess } from '../control-plane/guarded-process.ts';
import { ProcessGuard } from '../control-plane/process-guard.ts';
import { FurtherNode } from './further-node.ts';
import { scratchImage } from './images.ts';
import { FIRST_NODE, PAUSE_IMAGE, PROXY_HEALTH, SECOND_NODE, writeKubeletFiles } from './kubelet-files.ts';
import { type CommandResult, Machine } from './machine.ts';
import { removeCgroupsScript } from './node-cgroups.ts';
import { isNodeReady } from './node-condition.ts';
import { DNS_READY, type NodeFiles, writeNodeFiles } from './node-files.ts';
import { connectNetworks, prepareNetwork } from './node-namespaces.ts';
import type { NodePrograms } from './node-programs.ts';
import {
  apiSocket,
  auditLog,
  kubeletCommands,
  SERVICE_NAMES,
  type ServiceName,
  serviceCommands,
} from './node-services.ts';

interface Parts {
  readonly programs: NodePrograms;
  readonly cgroup: string;
  readonly files: NodeFiles;
  readonly guard: ProcessGuard;
  readonly clock: Clock;
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
  readonly #machine: Machine<ServiceName>;
  #further: FurtherNode | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    const { programs, cgroup, guard, clock, files } = parts;
    const { directory, kubeconfigPath, access: administrator, probe } = files;
    this.directory = directory;
    this.kubeconfigPath = kubeconfigPath;
    this.access = administrator;
    this.probe = probe;
    const { name } = FIRST_NODE;
    const machine = { name, directory, cgroup, pause: programs.pause, guard, clock };
    this.#machine = new Machine(machine, serviceCommands(files, programs));
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
      const node = new TestNode({ programs, cgroup, files, guard, clock });
      await scratchImage(node.#pauseImage, PAUSE_IMAGE, programs.pause);
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

  /** All processes of the node and of its pods are gone at once, those of a joined node too; disks stay. */
  async powerCut(): Promise<void> {
    await this.#further?.powerCut();
    await this.#machine.powerCut();
  }

  /** Starts the node on its disks. Resolves when it is ready. */
  async powerOn(signal: AbortSignal): Promise<void> {
    const machine = this.#machine;
    const startedAt = new Date(Math.floor(this.#parts.clock.wallMs() / 1000) * 1000);
    await machine.powerOn(signal);
    await prepareNetwork(machine.firstProcess, FIRST_NODE);
    for (const name of ['containerd', 'etcd', 'kube-apiserver'] as const) await this.startService(name);
    await machine.until(async () => await machine.succeeds('ctr', 'version'), signal);
    await machine.load(this.#pauseImage);
    await this.startService('api-socket');
    await machine.until(async () => (await this.#status('/readyz')) === 200, signal);
    for (const name of SERVICE_NAMES) if (!machine.isStarted(name)) await this.startService(name);
    await machine.until(async () => await this.#isReady(startedAt), signal);
  }

  /**
   * Adds a second node on a machine of its own. Disposing it removes it from the cluster.
   *
   * @param images archives of images that its pods need
   */
  async join(images: readonly string[], signal: AbortSignal): Promise<FurtherNode> {
    const { programs, files, guard, clock } = this.#parts;
    const identity = SECOND_NODE;
    const directory = join(this.directory, identity.name);
    const cgroup = `${this.#parts.cgroup}/${identity.name}`;
    await writeKubeletFiles({ node: identity, directory, cgroup, authority: files.authority });
    const machine = { name: identity.name, directory, cgroup, pause: programs.pause, guard, clock };
    const further = new FurtherNode({
      identity,
      machine: new Machine(machine, kubeletCommands(identity, directory, programs)),
      probe: this.probe,
      clock,
      images: [this.#pauseImage, ...images],
      connect: async (pid) => {
        const first = { pid: this.#machine.firstProcess, node: FIRST_NODE };
        await connectNetworks(first, { pid, node: identity });
      },
    });
    this.#further = further;
    try {
      await further.powerOn(signal);
      return further;
    } catch (error) {
      await further[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs a command inside, with the network, mounts and processes of the node. Its exit code is not an error. */
  async run(...command: readonly string[]): Promise<CommandResult> {
    return await this.#machine.run(...command);
  }

  /** Starts a program of a test inside, beside those of the node; it ends with the node at the latest. */
  async startProgram(name: string, ...command: readonly string[]): Promise<GuardedProcess> {
    return await this.#machine.startProgram(name, ...command);
  }

  /** Makes a server on the loopback of the machine one on the loopback of the node, at the same port. */
  async bringPort(port: number): Promise<void> {
    const socket = join(this.directory, `port-${port}.sock`);
    await this.#relay(`to-port-${port}`, `UNIX-LISTEN:${socket},fork,backlog=256`, `TCP:127.0.0.1:${port}`);
    const listen = `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr,backlog=256`;
    await this.startProgram(`port-${port}`, 'socat', listen, `UNIX-CONNECT:${socket}`);
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
      .filter((event) => !isOptional(event))
      .map(({ verb, requestURI, userAgent }) => `${verb} ${requestURI} by ${userAgent}`);
    return [...new Set(denied)];
  }

  /** Imports an image (docker-archive or OCI layout, as a tar) for the pods of the node, and of a joined one. */
  async load(archive: string): Promise<void> {
    await this.#machine.load(archive);
    await this.#further?.load(archive);
  }

  async startService(name: ServiceName): Promise<void> {
    await this.#machine.startService(name);
  }

  /** SIGKILL of one program; pods stay. */
  async killService(name: ServiceName): Promise<void> {
    await this.#machine.killService(name);
  }

  /** SIGSTOP leaves connections open, and nothing answers them until SIGCONT. */
  signalService(name: ServiceName, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#machine.signalService(name, signal);
  }

  /** The first process of the node, as the machine numbers it: everything on the node ends with it. */
  get firstProcess(): number {
    return this.#machine.firstProcess;
  }

  /** Path of the log of a program. */
  logFile(name: string): string {
    return this.#machine.logFile(name);
  }

  get #pauseImage(): string {
    return join(this.directory, 'pause.tar');
  }

  /** The API server for clients outside; it stays over power cuts. */
  async #startProxy(port: number): Promise<void> {
    const listen = `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr,backlog=256`;
    await this.#relay('api-proxy', listen, `UNIX-CONNECT:${apiSocket(this.directory)}`);
  }

  /** On the machine, between addresses of socat. */
  async #relay(name: string, from: string, to: string): Promise<void> {
    await GuardedProcess.start({
      name,
      file: 'socat',
      args: [from, to],
      cwd: this.directory,
      logFile: this.logFile(name),
      guard: this.#parts.guard,
    });
  }

  async #isReady(since: Date): Promise<boolean> {
    if (!(await isNodeReady(this.probe, FIRST_NODE.name, since))) return false;
    if ((await this.#status('/api/v1/namespaces/default/serviceaccounts/default')) !== 200) return false;
    for (const url of [`http://${PROXY_HEALTH}/healthz`, `http://${DNS_READY}/ready`]) {
      if (!(await this.#machine.succeeds('curl', '--silent', '--fail', url))) return false;
    }
    return true;
  }

  async #status(path: string): Promise<number | undefined> {
    const response = await this.probe.request({ path }).catch(() => undefined);
    return response?.status;
  }
}

/** What the operator looks at if it may: its namespace, the CRD of Module objects, and webhooks that it should remove. */
const OPTIONAL =
  /^\/api\/v1\/namespaces\/[^/]+$|\/customresourcedefinitions\/modules\.addon-operator\.io$|\/(?:validating|mutating)webhookconfigurations\/shell-operator-hooks-hooks$/;

function isOptional({ verb, requestURI, userAgent = '' }: AuditEvent): boolean {
  return verb === 'get' && OPTIONAL.test(requestURI) && /^(?:addon-operator|Helm)\//.test(userAgent);
}

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly responseStatus?: { readonly code: number };
}
