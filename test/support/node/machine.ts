import { readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { execa } from 'execa';
import { GuardedProcess } from '../control-plane/guarded-process.ts';
import type { ProcessGuard } from '../control-plane/process-guard.ts';
import { CONTAINERD_SOCKET } from './kubelet-files.ts';
import { createCgroups, removeCgroupsScript } from './node-cgroups.ts';
import { enterCommand, firstProcess, prepareNamespaces, unshareArguments } from './node-namespaces.ts';
import type { Command } from './node-services.ts';

const POLL_MS = 100;
/** Twenty times what a node takes on an idle machine: it is there to end with the reason. */
const START_TIMEOUT_MS = 600_000;
/** Programs run beside tests; see go-settings.ts for what they do. */
const ENVIRONMENT = { GOGC: '100', GOMEMLIMIT: '512MiB' };

export interface MachineParts {
  /** Its host name. */
  readonly name: string;
  /** Its disk: stays over power cuts. */
  readonly directory: string;
  /** Below it are all of its pods. */
  readonly cgroup: string;
  /** The program that is the first process. */
  readonly pause: string;
  readonly guard: ProcessGuard;
  readonly clock: Clock;
}

/** The machine as it runs between two power cuts. */
interface Power<Service> {
  readonly root: GuardedProcess;
  /** The first process of the namespaces. */
  readonly first: number;
  readonly services: Map<Service, GuardedProcess>;
}

/** What a node runs on: namespaces with their own mounts, network, processes and host name, and the programs in them. */
export class Machine<Service extends string> {
  readonly #parts: MachineParts;
  readonly #commands: Readonly<Record<Service, Command>>;
  #power: Power<Service> | undefined;

  constructor(parts: MachineParts, commands: Readonly<Record<Service, Command>>) {
    this.#parts = parts;
    this.#commands = commands;
  }

  /** All processes, those of pods included, are gone at once; the disk stays. */
  async powerCut(): Promise<void> {
    const power = this.#power;
    if (power === undefined) return;
    this.#power = undefined;
    process.kill(power.first, 'SIGKILL');
    await Promise.all([power.root, ...power.services.values()].map(async (one) => await one.kill()));
    await execa('sh', ['-c', removeCgroupsScript(this.#parts.cgroup)], { stdin: 'ignore' });
  }

  /** Makes the namespaces. No program runs in them, and they have no network but the loopback. */
  async powerOn(signal: AbortSignal): Promise<void> {
    const { name, directory, cgroup, pause } = this.#parts;
    await createCgroups(cgroup);
    const root = await this.#guarded('unshare', ['unshare', ...unshareArguments(pause)]);
    const first = await this.until(async () => await firstProcess(root.pid), signal);
    this.#power = { root, first, services: new Map() };
    // `unshare` mounts /proc between its fork and the start of the program.
    await this.until(async () => await isProgram(first, pause), signal);
    await prepareNamespaces(first, name, directory);
  }

  get isOn(): boolean {
    return this.#power !== undefined;
  }

  /** The first process, as the machine below numbers it: everything ends with it. */
  get firstProcess(): number {
    return this.#running.first;
  }

  isStarted(name: Service): boolean {
    return this.#running.services.has(name);
  }

  async startService(name: Service): Promise<void> {
    const { first, services } = this.#running;
    services.set(name, await this.#guarded(name, enterCommand(first, this.#commands[name])));
  }

  /** SIGKILL of one program; pods stay. */
  async killService(name: Service): Promise<void> {
    const service = this.#running.services.get(name);
    this.#running.services.delete(name);
    await service?.kill();
  }

  /** SIGSTOP leaves connections open, and nothing answers them until SIGCONT. */
  signalService(name: Service, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#running.services.get(name)?.signal(signal);
  }

  /** Runs a command inside. Its exit code is not an error. */
  async run(...command: readonly string[]): Promise<CommandResult> {
    const [file, ...args] = enterCommand(this.#running.first, command);
    const { exitCode, stdout, stderr } = await execa(file, args, { reject: false, stdin: 'ignore' });
    return { exitCode, stdout, stderr };
  }

  async succeeds(...command: readonly string[]): Promise<boolean> {
    return (await this.run(...command)).exitCode === 0;
  }

  /** Starts a program inside that ends with the machine at the latest. */
  async startProgram(name: string, ...command: readonly string[]): Promise<GuardedProcess> {
    return await this.#guarded(name, enterCommand(this.#running.first, command));
  }

  /** Imports an image (docker-archive or OCI layout, as a tar) for the pods. */
  async load(archive: string): Promise<void> {
    const ctr = ['ctr', '--address', CONTAINERD_SOCKET, '--namespace', 'k8s.io'];
    const { exitCode, stderr } = await this.run(...ctr, 'images', 'import', archive);
    if (exitCode !== 0) throw new Error(`Cannot import ${archive}: ${stderr}`);
  }

  /** Path of the log of a program. */
  logFile(name: string): string {
    return join(this.#parts.directory, 'log', `${name}.log`);
  }

  /** Polls until there is a result. Throws with the end of a log when a program exits, or after 10 minutes. */
  async until<T>(poll: () => Promise<T>, signal: AbortSignal): Promise<NonNullable<T>> {
    const { name, clock } = this.#parts;
    const deadlineMs = clock.steadyMs() + START_TIMEOUT_MS;
    for (;;) {
      const result = await poll();
      if (result !== undefined && result !== null && result !== false) return result;
      const services = [...(this.#power?.services.values() ?? [])];
      for (const service of services) {
        if (!service.isRunning) throw new Error(`${service.name} of ${name} exited:\n${service.logTail}`);
      }
      if (clock.steadyMs() > deadlineMs) {
        const log = services.find((service) => service.name === 'kubelet')?.logTail ?? '';
        throw new Error(`${name} is not ready after 10 minutes. The end of the kubelet's log:\n${log}`);
      }
      await clock.sleep(POLL_MS, signal);
    }
  }

  get #running(): Power<Service> {
    if (this.#power === undefined) throw new Error(`${this.#parts.name} is off`);
    return this.#power;
  }

  async #guarded(name: string, [file, ...args]: Command): Promise<GuardedProcess> {
    const { directory, guard } = this.#parts;
    return await GuardedProcess.start({
      name,
      file,
      args,
      cwd: directory,
      logFile: this.logFile(name),
      guard,
      env: ENVIRONMENT,
    });
  }
}

export interface CommandResult {
  /** Undefined when a signal ended the command. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

async function isProgram(pid: number, file: string): Promise<boolean> {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  return program === (await realpath(file));
}
