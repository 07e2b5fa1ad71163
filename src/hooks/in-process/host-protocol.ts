import type { RunDeadline } from '../../process/run-deadline.ts';
import type { HookOutputTexts, HookRunTexts } from '../../sdk/record-hook-run.ts';

/** What the daemon tells the process of the workers; workers have numbers, given by the daemon. */
export type HostRequest =
  | { readonly type: 'start'; readonly worker: number; readonly path: string }
  | ({ readonly worker: number } & RunRequest)
  | { readonly type: 'abort'; readonly worker: number }
  | { readonly type: 'end'; readonly worker: number }
  /** Nothing may go on beyond it, whatever becomes of the daemon. */
  | { readonly type: 'deadline'; readonly deadline: RunDeadline };

/** One run, as a worker gets it. */
export interface RunRequest {
  readonly type: 'run';
  readonly texts: HookRunTexts;
  /** Output beyond this is dropped and counted. */
  readonly maxOutputBytes?: number;
}

/** What a worker says. */
export type WorkerReply =
  /** The file is loaded; `config` is the configuration as JSON. */
  | { readonly type: 'ready'; readonly config: string }
  | { readonly type: 'load-failed'; readonly reason: string }
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | ({ readonly type: 'done'; readonly outputs: HookOutputTexts } & RunFacts)
  | ({ readonly type: 'failed'; readonly reason: string } & RunFacts);

export interface RunFacts {
  readonly droppedBytes: number;
  /** Timers that are still set although the run is over. */
  readonly leakedTimers: number;
  readonly userCpuMs: number;
  readonly systemCpuMs: number;
  /** Memory of the worker after the run: its heap, free parts included, and buffers. */
  readonly memoryBytes: number;
}

/** What the daemon hears: of a worker, that a worker is gone, or of the process itself. */
export type HostReply =
  | { readonly type: 'worker'; readonly worker: number; readonly reply: WorkerReply }
  | { readonly type: 'exited'; readonly worker: number; readonly reason: string }
  | { readonly type: 'over-limit'; readonly usedBytes: number };
