// The daemon's side of running processes: every hook and every helm goes through here. A run becomes a frame
// to the launcher program (`launcher-main.ts`), which spawns, signals and reaps; its frames come back to the
// `ProcessRun` with the same number. The extra process keeps the daemon's memory out of fork, survives a
// suspended daemon long enough to end its hooks (`setDeadline`), and adopts orphans. If it dies, the runs in
// progress fail with PROCESS_SPAWN, their groups are killed, and the next run starts it again.

import { type SteadyClock, systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import { EscapedByRun, warnOfEscaped } from './escaped-processes.ts';
import {
  type LauncherEnd,
  type LauncherProcess,
  type LauncherProgram,
  SOURCE_PROGRAM,
  startLauncherProcess,
} from './launcher-process.ts';
import {
  decodeStarted,
  encodeDeadline,
  encodeFrame,
  encodeJsonFrame,
  FRAME_KINDS,
  type SpawnRequest,
} from './launcher-protocol.ts';
import { LauncherWatch } from './launcher-watch.ts';
import { killMarkedProcesses } from './marked-processes.ts';
import { ProcessRun, type RunResponse } from './process-run.ts';
import type { ProcessResult, ProcessRunner, ProcessSpec } from './process-runner.ts';
import type { RunDeadline } from './run-deadline.ts';

/** A file that is being written cannot be executed; writers are usually done soon. */
const BUSY_FILE_RETRIES = 3;
const BUSY_FILE_DELAY_MS = 100;

export interface LauncherOptions {
  readonly log: Logger;
  readonly clock: SteadyClock;
  /** By which the launcher program has its time for a response; by default that of the machine, on which the program depends. */
  readonly responseClock?: SteadyClock;
  /** Called when the deadline of all runs has passed (see {@link Launcher.setDeadline}): their groups are being ended. */
  readonly onDeadlinePassed?: () => void;
  /** Called when the launcher program is being started; until it takes requests it takes another 50 ms. */
  readonly onSpawned?: () => void;
  /** A directory that can be written; by default that of the system for temporary files. */
  readonly tmpDir?: string;
  /** By default the sources of the launcher program. */
  readonly program?: LauncherProgram;
}

/** Starts the launcher program. @throws OperatorError PROCESS_SPAWN when it does not come up */
export async function startLauncher(options: LauncherOptions): Promise<Launcher> {
  const launcher = new Launcher(options);
  await launcher.start();
  return launcher;
}

/**
 * Runs processes through the launcher program (see `launcher-main.ts`). When that program dies, the runs in progress
 * fail with PROCESS_SPAWN and their groups are killed; the next run starts it again.
 */
export class Launcher implements ProcessRunner {
  readonly #log: Logger;
  readonly #clock: SteadyClock;
  readonly #responseClock: SteadyClock;
  readonly #runs = new Map<number, ProcessRun>();
  #lastRun = 0;
  #launcher: Promise<LauncherProcess> | undefined;
  /** While it takes requests: most runs need not wait for anything. */
  #up: LauncherProcess | undefined;
  #watch: LauncherWatch | undefined;
  readonly #stopping = new AbortController();
  #deadline: RunDeadline | undefined;
  readonly #onDeadlinePassed: () => void;
  readonly #onSpawned: () => void;
  readonly #tmpDir: string | undefined;
  readonly #program: LauncherProgram;

  constructor(options: LauncherOptions) {
    const { onDeadlinePassed = () => undefined, onSpawned = () => undefined } = options;
    this.#log = options.log;
    this.#clock = options.clock;
    this.#responseClock = options.responseClock ?? systemClock;
    this.#onDeadlinePassed = onDeadlinePassed;
    this.#onSpawned = onSpawned;
    this.#tmpDir = options.tmpDir;
    this.#program = options.program ?? SOURCE_PROGRAM;
  }

  /** Pid of the launcher program; undefined while it is down. */
  get pid(): number | undefined {
    return this.#up?.pid;
  }

  /** Resolves when the launcher program is up. @throws OperatorError PROCESS_SPAWN when it does not come up */
  async start(): Promise<void> {
    await this.#running();
  }

  async run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult> {
    refuseNul(spec);
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      const response = await this.#attempt(spec, signal);
      signal.throwIfAborted();
      if (response.type === 'ended') return response.result;
      const { code, reason } = response.failure;
      if (code !== 'ETXTBSY' || attempt === BUSY_FILE_RETRIES) {
        throw new OperatorError('PROCESS_SPAWN', `Cannot run ${spec.file}: ${reason}`);
      }
      await this.#clock.sleep(BUSY_FILE_DELAY_MS, signal);
    }
  }

  /**
   * Makes the launcher program end all groups, TERM first, at the given times of the steady clock, and start no more, unless
   * it receives a later deadline before. It does so even if this process is stopped or gone, which is the purpose of the
   * deadline: a process that does not run cannot end its hooks. A deadline that has passed is final; times in the past end
   * all groups at once.
   */
  setDeadline(deadline: RunDeadline): void {
    this.#deadline = deadline;
    // One that is starting gets it as soon as it takes requests.
    this.#up?.send(encodeDeadline(deadline));
  }

  /** Kills every running group and ends the launcher program; runs in progress reject with ABORTED. */
  async stop(): Promise<void> {
    this.#stopping.abort(new OperatorError('ABORTED', 'The launcher has been stopped'));
    this.#up = undefined;
    const launcher = await this.#launcher?.catch(() => undefined);
    await launcher?.stop();
  }

  /** One attempt. The run is registered before its frame is sent: the response may come at once. */
  async #attempt(spec: ProcessSpec, signal: AbortSignal): Promise<RunResponse> {
    const launcher = this.#up ?? (await resultOrAbort(this.#running(), signal));
    this.#lastRun = (this.#lastRun + 1) % 2 ** 32;
    const id = this.#lastRun;
    const run = new ProcessRun(id, {
      spec: { onEscaped: (escaped) => warnOfEscaped(this.#log, escaped, { file: spec.file }), ...spec },
      clock: this.#clock,
      signal,
      send: launcher.send,
    });
    this.#runs.set(id, run);
    const request: SpawnRequest = { file: spec.file, args: spec.args, cwd: spec.cwd, env: environ(spec.env) };
    launcher.send(encodeJsonFrame(FRAME_KINDS.run, id, request));
    this.#watch?.begin();
    try {
      return await run.response();
    } finally {
      this.#runs.delete(id);
    }
  }

  /** The launcher program, started if needed. Callers at the same time share one start. */
  #running(): Promise<LauncherProcess> {
    if (this.#stopping.signal.aborted) return Promise.reject(this.#stopping.signal.reason);
    this.#launcher ??= this.#startProcess();
    return this.#launcher;
  }

  /** Starts the program. A failed start is not kept, so that the next run tries again. */
  async #startProcess(): Promise<LauncherProcess> {
    const options = {
      log: this.#log,
      clock: this.#clock,
      tmpDir: this.#tmpDir,
      program: this.#program,
    };
    const events = {
      onSpawned: () => this.#onSpawned(),
      onFrame: (kind: number, run: number, payload: Buffer) => this.#onFrame(kind, run, payload),
    };
    try {
      const launcher = await startLauncherProcess(options, events, this.#stopping.signal);
      this.#up = launcher;
      this.#watch = this.#watchOf(launcher);
      void launcher.gone.then((end) => this.#onGone(launcher.id, end));
      if (this.#deadline !== undefined) launcher.send(encodeDeadline(this.#deadline));
      return launcher;
    } catch (error) {
      // The next run starts another one.
      this.#launcher = undefined;
      throw error;
    }
  }

  /** Pings the program while runs are open; the watch ends with the program. */
  #watchOf(launcher: LauncherProcess): LauncherWatch {
    const gone = new AbortController();
    void launcher.gone.then(() => gone.abort());
    return new LauncherWatch({
      launcher: {
        pid: launcher.pid,
        ping: () => launcher.send(encodeFrame(FRAME_KINDS.ping, 0)),
        kill: launcher.kill,
      },
      clock: this.#responseClock,
      log: this.#log,
      signal: AbortSignal.any([gone.signal, this.#stopping.signal]),
      isBusy: () => this.#runs.size > 0,
    });
  }

  /** Passes a frame to its run. Frames of runs that have ended are ignored. */
  #onFrame(kind: number, id: number, payload: Buffer): void {
    this.#watch?.responded();
    if (kind === FRAME_KINDS.deadlinePassed) return this.#onDeadlinePassed();
    if (kind === FRAME_KINDS.strays) return warnOfEscaped(this.#log, JSON.parse(payload.toString()));
    const run = this.#runs.get(id);
    if (run === undefined) return;
    if (kind === FRAME_KINDS.started) run.onStarted(decodeStarted(payload));
    else if (kind === FRAME_KINDS.stdout) run.onOutput('stdout', payload);
    else if (kind === FRAME_KINDS.stderr) run.onOutput('stderr', payload);
    else if (kind === FRAME_KINDS.exited) run.onExited();
    else if (kind === FRAME_KINDS.done) run.onDone(JSON.parse(payload.toString()));
    else if (kind === FRAME_KINDS.failed) run.onFailed(JSON.parse(payload.toString()));
  }

  /** The program has ended: fails all runs and kills what it may have left behind. */
  #onGone(id: string, { reason, isOrderly }: LauncherEnd): void {
    const isStopped = this.#stopping.signal.aborted;
    this.#launcher = undefined;
    this.#up = undefined;
    this.#watch = undefined;
    if (!isStopped) {
      this.#log.error({ reason, runningProcesses: this.#runs.size }, 'launcher exited unexpectedly');
    }
    const error = isStopped
      ? new OperatorError('ABORTED', 'The process was killed because the launcher was stopped')
      : new OperatorError('PROCESS_SPAWN', `The launcher that ran the process has ended: ${reason}`);
    for (const run of this.#runs.values()) run.onLost(error);
    // It ends what it runs, unless it was killed; what has left its group can then be found by its marker alone. Looking for
    // that reads the environment of every process of the machine.
    if (!isStopped || !isOrderly || this.#runs.size > 0) this.#killMarked(id);
  }

  /** Kills marked processes of the machine; those of a running run are reported to it, others are logged. */
  #killMarked(id: string): void {
    const escaped = new EscapedByRun();
    const groups = new Set([...this.#runs.values()].flatMap(({ pid }) => pid ?? []));
    for (const { run, living } of killMarkedProcesses(id, () => true))
      escaped.add(this.#runs.has(run) ? run : undefined, living, groups);
    for (const [number, run] of this.#runs) {
      const left = escaped.take(number);
      if (left !== undefined) run.onEscaped(left);
    }
    const strays = escaped.take(undefined);
    if (strays !== undefined) warnOfEscaped(this.#log, strays);
  }
}

/** The environment as the kernel takes it: `NAME=value`. */
function environ(env: Readonly<Record<string, string>>): string[] {
  const entries: string[] = [];
  for (const name in env) entries.push(`${name}=${env[name]}`);
  return entries;
}

/** A NUL byte would silently end the string that the process sees. */
function refuseNul(spec: ProcessSpec): void {
  const refuse = (what: string): never => {
    throw new OperatorError(
      'PROCESS_SPAWN',
      `Cannot run ${spec.file.replaceAll('\0', '\\0')}: ${what} contains a NUL byte`,
    );
  };
  if (spec.file.includes('\0')) refuse('its path');
  if (spec.cwd.includes('\0')) refuse('the working directory');
  for (const [index, arg] of spec.args.entries()) if (arg.includes('\0')) refuse(`argument ${index + 1}`);
  for (const name in spec.env) {
    if (name.includes('\0')) refuse('the name of an environment variable');
    if (spec.env[name]?.includes('\0') === true) refuse(`the environment variable ${name}`);
  }
}
