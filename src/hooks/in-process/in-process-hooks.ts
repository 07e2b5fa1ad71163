import PQueue from 'p-queue';
import type { Clock } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { LineSplitter } from '../../process/line-splitter.ts';
import type { RunDeadline } from '../../process/run-deadline.ts';
import { type Hook, title } from '../hook.ts';
import { createHookOutputLog, type HookOutputLog } from '../hook-output-log.ts';
import type { HookInputs } from '../run-files.ts';
import type { HookRunResult } from '../run-hook.ts';
import { HookWorker, type WorkerAnswer, type WorkLimits } from './hook-worker.ts';
import { HostProcess } from './host-process.ts';

/** How many runs of one hook may go on at the same time; further ones wait. */
const MAX_WORKERS_PER_HOOK = 4;
/** Between the abort of the signal of a run and the end of its thread. */
const GRACE_MS = 1_000;
/** A worker that has nothing to do for this long is ended; the next run starts another one. */
const IDLE_MS = 600_000;

export interface InProcessHooksOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Environment of the hooks. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Limit for hooks that set none of their own, in milliseconds; undefined = none. */
  readonly timeoutMs: number | undefined;
  /** What a hook prints beyond this many bytes is not logged; undefined = no limit. */
  readonly maxOutputBytes: number | undefined;
  /** How large the heap of one thread may get; buffers may use as much again. */
  readonly heapLimitBytes: number;
  /** Called before a file is loaded or run; what it throws keeps that from being done. */
  readonly check: () => void;
}

/** What the daemon knows of one file. */
interface Pool {
  readonly path: string;
  readonly runs: PQueue;
  readonly idle: { readonly worker: HookWorker; readonly sinceMs: number }[];
  /** It brought down the process it shares with others: it gets one of its own until a run succeeds. */
  isIsolated: boolean;
}

/** Runs hooks that are JavaScript or TypeScript files, each in threads of its own in a process that they share. */
export class InProcessHooks {
  readonly #options: InProcessHooksOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #hosts = new Set<HostProcess>();
  readonly #stopped = new AbortController();
  #shared: HostProcess | undefined;
  #deadline: RunDeadline | undefined;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(options: InProcessHooksOptions) {
    this.#options = options;
  }

  /**
   * Loads a file anew and returns its configuration as JSON. Runs under way keep the old one.
   *
   * @param log gets what the file prints while it is loaded
   * @throws OperatorError HOOK_CONFIG_INVALID when it cannot be loaded, or not in time; `signal.reason` on abort
   */
  async load(path: string, timeoutMs: number, log: Logger, signal: AbortSignal): Promise<string> {
    this.#options.check();
    const pool: Pool = {
      path,
      idle: [],
      runs: new PQueue({ concurrency: MAX_WORKERS_PER_HOOK }),
      isIsolated: false,
    };
    const output = outputTo(log);
    const limits = { ...this.#limits(timeoutMs), onOutput: output.push };
    const answer = await this.#withHost(pool, async (host) => {
      const worker = new HookWorker(host, path);
      let loaded: WorkerAnswer | undefined;
      try {
        loaded = await worker.load(limits, signal);
        if (loaded.type === 'ready') this.#replace(pool);
        return loaded;
      } finally {
        this.#release(pool, worker, loaded);
      }
    }).finally(output.end);
    if (answer.type === 'ready') return answer.config;
    throw new OperatorError(
      'HOOK_CONFIG_INVALID',
      `cannot load hook '${path}': ${whyNot(answer, timeoutMs)}`,
    );
  }

  /**
   * Runs a hook once.
   *
   * @param log gets every line the hook prints or logs
   * @throws OperatorError HOOK_FAILED or HOOK_TIMEOUT; nothing the hook recorded counts then
   * @throws `signal.reason` on abort, once the hook has come to its end
   */
  async run(hook: Hook, texts: HookInputs, log: Logger, signal: AbortSignal): Promise<HookRunResult> {
    this.#options.check();
    const pool = this.#pools.get(hook.path);
    if (pool === undefined) throw new OperatorError('INTERNAL', `${hook.path} is run before it was loaded`);
    const answer = await pool.runs.add(() =>
      this.#withHost(pool, (host) => this.#runOn(host, pool, { hook, texts, log, signal })),
    );
    return this.#resultOf(hook, answer, log);
  }

  /** At the first moment all runs are told to end, at the second they are ended, whatever becomes of this process. */
  setDeadline(deadline: RunDeadline): void {
    this.#deadline = deadline;
    for (const host of this.#hosts) host.send({ type: 'deadline', deadline });
  }

  /** Ends all workers; resolves when they are gone. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#sweeping;
    await Promise.all([...this.#hosts].map((host) => host.kill('the daemon is stopping')));
  }

  async #runOn(
    host: HostProcess,
    pool: Pool,
    run: {
      readonly hook: Hook;
      readonly texts: HookInputs;
      readonly log: Logger;
      readonly signal: AbortSignal;
    },
  ): Promise<WorkerAnswer> {
    const { hook, texts, log, signal } = run;
    // It may have waited for others: a worker is neither made nor ended for it.
    signal.throwIfAborted();
    const timeoutMs = this.#timeoutMs(hook);
    const { maxOutputBytes } = this.#options;
    const output = outputTo(log);
    const { clock } = this.#options;
    const startedMs = clock.now();
    // What loading takes is off the limit of the run; a wall clock may be turned back meanwhile.
    const limits = (): WorkLimits => {
      const tookMs = Math.max(0, clock.now() - startedMs);
      const leftMs = timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - tookMs);
      return { ...this.#limits(leftMs), onOutput: output.push };
    };
    const idle = host === this.#shared ? takeIdle(pool) : undefined;
    const worker = idle ?? new HookWorker(host, pool.path);
    let answer: WorkerAnswer | undefined;
    try {
      if (idle === undefined) {
        const loaded = await worker.load(limits(), signal);
        if (loaded.type !== 'ready') return loaded;
      }
      answer = await worker.run(
        { type: 'run', texts, ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }) },
        limits(),
        signal,
      );
      return answer;
    } finally {
      output.end();
      this.#release(pool, worker, answer);
    }
  }

  /**
   * Does something in the shared process. When that dies and the culprit is not certain, the work is done again in a
   * process of its own: nothing of it has been applied, and only the culprit fails there too.
   */
  async #withHost(pool: Pool, work: (host: HostProcess) => Promise<WorkerAnswer>): Promise<WorkerAnswer> {
    if (!pool.isIsolated) {
      const answer = await work(this.#sharedHost());
      if (answer.type !== 'host-gone') return answer;
      pool.isIsolated = true;
      if (answer.wasAlone || this.#stopped.signal.aborted) return answer;
      this.#options.log.warn(
        { path: pool.path, reason: answer.reason },
        'the process of in-process hooks died while several were at work, each is repeated in a process of its own',
      );
    }
    const host = this.#startHost();
    try {
      const answer = await work(host);
      if (answer.type === 'ready' || answer.type === 'done') pool.isIsolated = false;
      return answer;
    } finally {
      await host.kill('it is not needed any more');
    }
  }

  #sharedHost(): HostProcess {
    if (this.#shared === undefined || this.#shared.isGone) this.#shared = this.#startHost();
    return this.#shared;
  }

  #startHost(): HostProcess {
    for (const host of this.#hosts) if (host.isGone) this.#hosts.delete(host);
    const host = new HostProcess(this.#options);
    this.#hosts.add(host);
    if (this.#deadline !== undefined) host.send({ type: 'deadline', deadline: this.#deadline });
    return host;
  }

  /** From now on a file is what was just loaded. */
  #replace(pool: Pool): void {
    const before = this.#pools.get(pool.path);
    for (const { worker } of before?.idle.splice(0) ?? []) worker.end();
    if (this.#pools.size === 0) this.#sweeping = this.#sweep();
    this.#pools.set(pool.path, pool);
  }

  /** Keeps a worker for the next run, unless something of this run would go on in it. */
  #release(pool: Pool, worker: HookWorker, answer: WorkerAnswer | undefined): void {
    const isSound =
      answer?.type === 'ready' ||
      ((answer?.type === 'done' || answer?.type === 'failed') &&
        answer.leakedTimers === 0 &&
        answer.memoryBytes < 2 * this.#options.heapLimitBytes);
    if (isSound && !worker.isGone && !pool.isIsolated && this.#pools.get(pool.path) === pool)
      pool.idle.push({ worker, sinceMs: this.#options.clock.now() });
    else worker.end();
  }

  #resultOf(hook: Hook, answer: WorkerAnswer, log: Logger): HookRunResult {
    const timeoutMs = this.#timeoutMs(hook);
    if (answer.type === 'done' || answer.type === 'failed') {
      const { droppedBytes: truncatedBytes, leakedTimers } = answer;
      if (truncatedBytes > 0)
        log.warn({ truncatedBytes, limitBytes: this.#options.maxOutputBytes }, 'hook output is truncated');
      if (leakedTimers > 0)
        log.warn(
          { timers: leakedTimers },
          'hook left timers behind; they are dropped, with all it kept in memory',
        );
    }
    switch (answer.type) {
      case 'done': {
        const { userCpuMs, systemCpuMs, memoryBytes: maxRssBytes } = answer;
        return { outputs: answer.outputs, usage: { userCpuMs, systemCpuMs, maxRssBytes } };
      }
      case 'timed-out':
        throw new OperatorError('HOOK_TIMEOUT', `${title(hook)} was stopped: ${whyNot(answer, timeoutMs)}`);
      case 'ready':
      case 'load-failed':
      case 'failed':
      case 'exited':
      case 'host-gone':
        throw new OperatorError('HOOK_FAILED', `${title(hook)} failed: ${whyNot(answer, timeoutMs)}`);
    }
  }

  #timeoutMs(hook: Hook): number | undefined {
    return hook.config.settings.timeoutMs ?? this.#options.timeoutMs;
  }

  #limits(timeoutMs: number | undefined): Omit<WorkLimits, 'onOutput'> {
    return { timeoutMs, graceMs: GRACE_MS, clock: this.#options.clock };
  }

  /** Ends workers that have had nothing to do for long: hooks of disabled modules have none in the end. */
  async #sweep(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await clock.sleep(IDLE_MS / 2, signal).catch(() => undefined);
      const limitMs = clock.now() - IDLE_MS;
      for (const { idle } of this.#pools.values()) {
        const old = idle.filter(({ sinceMs }) => sinceMs < limitMs);
        for (const entry of old) {
          idle.splice(idle.indexOf(entry), 1);
          entry.worker.end();
        }
      }
    }
  }
}

function takeIdle({ idle }: Pool): HookWorker | undefined {
  for (let entry = idle.pop(); entry !== undefined; entry = idle.pop()) {
    if (!entry.worker.isGone) return entry.worker;
  }
  return undefined;
}

/** Why there is no result. */
function whyNot(answer: WorkerAnswer, timeoutMs: number | undefined): string {
  switch (answer.type) {
    case 'ready':
    case 'done':
      return 'it has no result';
    case 'timed-out':
      return `it ran longer than its limit of ${(timeoutMs ?? 0) / 1_000} s`;
    case 'load-failed':
    case 'failed':
    case 'exited':
    case 'host-gone':
      return answer.reason;
  }
}

/** Cuts what a hook prints into lines for its log. Most runs print nothing, and cost nothing here. */
function outputTo(log: Logger): { readonly push: WorkLimits['onOutput']; readonly end: () => void } {
  let open: OpenOutput | undefined;
  return {
    push: ({ stream, text }) => {
      open ??= openOutput(log);
      open[stream].push(Buffer.from(text));
    },
    end: () => {
      open?.stdout.end();
      open?.stderr.end();
      open?.output.end();
    },
  };
}

interface OpenOutput {
  readonly output: HookOutputLog;
  readonly stdout: LineSplitter;
  readonly stderr: LineSplitter;
}

function openOutput(log: Logger): OpenOutput {
  const output = createHookOutputLog(log);
  return {
    output,
    stdout: new LineSplitter((line) => output.line('stdout', line)),
    stderr: new LineSplitter((line) => output.line('stderr', line)),
  };
}
