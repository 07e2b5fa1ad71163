import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import {
  type LauncherEnd,
  type LauncherEvents,
  type LauncherProcess,
  type LauncherProcessOptions,
  type LauncherProgram,
  startLauncherProcess as startProgram,
} from '../../packages/process/src/launcher-process.ts';
import { encodeFrame, FRAME_KINDS } from '../../packages/process/src/launcher-protocol.ts';
import { killMarkedProcesses } from '../../packages/process/src/marked-processes.ts';

// Replaces `launcher-process.ts` where tests run daemons in this process (see `vitest.config.ts`). Starting a launcher
// program takes 0.1 s of CPU time, and there are a thousand such daemons: those of a worker share one program, which ends
// with the worker. Daemons that are processes have their own, as do the tests of the launcher.

export { SOURCE_PROGRAM } from '../../packages/process/src/launcher-process.ts';
export type { LauncherProgram };

/** Where the kind and the run are in a frame, see `launcher-protocol.ts`. */
const KIND_OFFSET = 4;
const RUN_OFFSET = 5;

const ENDED: LauncherEnd = { reason: 'it ended (exit code 0)', isOrderly: true };

const never = new AbortController().signal;
/** By the file of the program. */
const programs = new Map<string, Promise<SharedProgram>>();

/** As the original, but the program may be running already, and other callers have runs in it. */
export async function startLauncherProcess(
  { program, log }: LauncherProcessOptions,
  events: LauncherEvents,
  signal: AbortSignal,
): Promise<LauncherProcess> {
  const starting = programs.get(program.file) ?? startShared(program);
  programs.set(program.file, starting);
  const shared = await starting;
  signal.throwIfAborted();
  events.onSpawned();
  log.debug({ pid: shared.process.pid }, 'launcher started');
  return new Borrower(shared, events);
}

async function startShared(program: LauncherProgram): Promise<SharedProgram> {
  const runs = new Map<number, OwnedRun>();
  const borrowers = new Set<Borrower>();
  const onFrame = (kind: number, id: number, payload: Buffer): void => {
    // A response to a ping, or news of processes whose run has ended.
    if (id === 0) for (const { events } of borrowers) events.onFrame(kind, 0, payload);
    runs.get(id)?.borrower.receive(kind, id, payload);
  };
  try {
    const process = await startProgram(
      { log: silentLogger, clock: systemClock, tmpDir: undefined, program },
      { onSpawned: () => undefined, onFrame },
      never,
    );
    void process.gone.then((end) => {
      programs.delete(program.file);
      for (const borrower of borrowers) borrower.end(end);
    });
    return { process, runs, borrowers, lastRun: 0 };
  } catch (error) {
    programs.delete(program.file);
    throw error;
  }
}

interface SharedProgram {
  readonly process: LauncherProcess;
  /** By the numbers they have in the program: each borrower counts its runs from 1. */
  readonly runs: Map<number, OwnedRun>;
  readonly borrowers: Set<Borrower>;
  lastRun: number;
}

interface OwnedRun {
  readonly borrower: Borrower;
  /** Its number for the borrower. */
  readonly number: number;
}

/** What one daemon sees of a shared program. */
class Borrower implements LauncherProcess {
  /** Of no process: those that are to end with this launcher are found by {@link stop}. */
  readonly id = randomUUID();
  readonly events: LauncherEvents;
  readonly #shared: SharedProgram;
  /** Numbers in the program, by the number for the daemon; of runs that go on. */
  readonly #active = new Map<number, number>();
  /** Numbers in the program of all runs there were. */
  readonly #all = new Set<number>();
  readonly #gone = Promise.withResolvers<LauncherEnd>();
  #isStopping = false;

  constructor(shared: SharedProgram, events: LauncherEvents) {
    this.#shared = shared;
    this.events = events;
    shared.borrowers.add(this);
  }

  get pid(): number {
    return this.#shared.process.pid;
  }

  get gone(): Promise<LauncherEnd> {
    return this.#gone.promise;
  }

  readonly send = (frame: Buffer): void => {
    const kind = frame.readUInt8(KIND_OFFSET);
    const number = frame.readUInt32LE(RUN_OFFSET);
    if (kind === FRAME_KINDS.deadline)
      throw new Error('A daemon with a deadline needs a launcher of its own');
    if (kind === FRAME_KINDS.run) this.#own(number);
    const id = number === 0 ? 0 : this.#active.get(number);
    // The run has ended, and the daemon does not know yet.
    if (id === undefined) return;
    frame.writeUInt32LE(id, RUN_OFFSET);
    this.#shared.process.send(frame);
  };

  readonly kill = (signal: 'SIGCONT' | 'SIGKILL'): void => this.#shared.process.kill(signal);

  receive(kind: number, id: number, payload: Buffer): void {
    const number = this.#shared.runs.get(id)?.number ?? 0;
    if (kind === FRAME_KINDS.done || kind === FRAME_KINDS.failed) {
      this.#shared.runs.delete(id);
      this.#active.delete(number);
    }
    if (!this.#isStopping) return this.events.onFrame(kind, number, payload);
    if (kind === FRAME_KINDS.exited) this.#shared.process.send(encodeFrame(FRAME_KINDS.finish, id));
    if (this.#active.size === 0) this.end(ENDED);
  }

  /** Kills the runs of this daemon and what has left their groups, as the end of the program does. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const killed = Uint8Array.of(constants.signals.SIGKILL);
    for (const id of this.#active.values())
      this.#shared.process.send(encodeFrame(FRAME_KINDS.signal, id, killed));
    if (this.#active.size === 0) this.end(ENDED);
    await this.gone;
    if (this.#all.size > 0) killMarkedProcesses(this.#shared.process.id, (run) => this.#all.has(run));
  }

  end(end: LauncherEnd): void {
    this.#shared.borrowers.delete(this);
    this.#gone.resolve(end);
  }

  #own(number: number): void {
    this.#shared.lastRun += 1;
    const id = this.#shared.lastRun;
    this.#shared.runs.set(id, { borrower: this, number });
    this.#active.set(number, id);
    this.#all.add(id);
  }
}
