export type OutputStream = 'stdout' | 'stderr';

/** Processes that left the group of their run, and were ended with it. */
export interface EscapedProcesses {
  readonly count: number;
  /** The first twenty of them. `command` is the short name of the program: its arguments may hold secrets. */
  readonly processes: readonly { readonly pid: number; readonly command: string }[];
}

/** One process to run, as the leader of a process group of its own. */
export interface ProcessSpec {
  /** Absolute path of an executable, or a name to be found in the PATH of `env`. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Time limit in milliseconds; without it the process may run for ever. */
  readonly timeoutMs?: number;
  /** Time between TERM and KILL of the group, in milliseconds, after a time-out or an abort. */
  readonly graceMs: number;
  /**
   * Called with the pid of the process, which is that of its group, when it still runs a few milliseconds after its start. Not
   * called for a process that ends at once.
   */
  readonly onStart?: (pid: number) => void;
  /** Called for every complete output line, without its line end; long lines arrive cut into pieces. */
  readonly onLine?: (stream: OutputStream, line: string) => void;
  /** After this many bytes of stdout and stderr together, lines are dropped and counted. Default: no limit. */
  readonly maxLineBytes?: number;
  /**
   * Called at most once, before the run ends, when processes that left its group had to be ended. Default: the runner logs
   * a warning with `file`.
   */
  readonly onEscaped?: (escaped: EscapedProcesses) => void;
  /** A client waits for its result, so that it is started while the daemon stops too (see `guarded-runner.ts`). Default: no. */
  readonly isAwaited?: boolean;
  /** Keep the first bytes of stdout in the result, up to this many. Default 0. */
  readonly captureStdoutBytes?: number;
}

/** Resources used by the process and the children it waited for, as counted by the kernel. */
export interface ResourceUsage {
  readonly userCpuMs: number;
  readonly systemCpuMs: number;
  readonly maxRssBytes: number;
}

export type ProcessOutcome =
  | { readonly type: 'exited'; readonly exitCode: number }
  | { readonly type: 'signalled'; readonly signal: string }
  | { readonly type: 'timed-out'; readonly timeoutMs: number };

export interface ProcessResult {
  readonly outcome: ProcessOutcome;
  /** Captured stdout, see {@link ProcessSpec.captureStdoutBytes}. */
  readonly stdout: string;
  readonly isStdoutTruncated: boolean;
  /** Bytes of output that `onLine` did not get, see {@link ProcessSpec.maxLineBytes}; absent when it got all. */
  readonly droppedBytes?: number;
  /** The last 64 KiB of stderr. */
  readonly stderr: string;
  /** The first 8 KiB of a stderr that is longer than the last 64 KiB; else absent. */
  readonly stderrStart?: string;
  /** Absent where the platform gives no figures (the fallback without native spawn). */
  readonly usage?: ResourceUsage;
  readonly durationMs: number;
}

export interface ProcessRunner {
  /**
   * Runs one process to its end. The run ends at the exit of the process itself, with a short grace for its pipes;
   * the rest of its group is killed then, and where the system allows it also processes that have left the group. When the
   * signal aborts, the group gets TERM, after the grace KILL, and the promise rejects with `signal.reason` once the
   * process is gone.
   *
   * @throws OperatorError PROCESS_SPAWN when the process cannot be started (missing file, interpreter or permission)
   */
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult>;
}
