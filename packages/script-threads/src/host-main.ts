// The process of the script threads, started by `host-process.ts`. Requests of the main process come in by
// IPC and go to the thread with their number; replies go back the same way, or over a line between thread and
// main process (`worker-lines.ts`). It also watches the memory of all threads and the deadline of all work,
// and kills its whole process group when either is exceeded or the main process is gone.

import { Worker } from 'node:worker_threads';
import { systemClock } from '@addon-operator/base/clock';
import { DeadlineWatch } from '@addon-operator/process/run-deadline';
import { failureText } from './failure-text.ts';
import type { HostReply, HostRequest, StartRequest, WatchRequest, WorkerReply } from './host-protocol.ts';
import { createLedger, createWatchedFlag, MemoryWatch, mayStopWatching, WorkLedger } from './memory-watch.ts';
import { serveStripper } from './type-stripper.ts';
import { acknowledge, createInFlightCounter } from './worker-output.ts';
import type { WorkerData } from './worker-thread.ts';

const MIB = 1024 * 1024;
/** Limit of V8's young generation in one thread; the old generation has a limit of its own. */
const YOUNG_GENERATION_MIB = 16;
/** Arguments of the main process: the maximum heap of a worker, and the directories of its own code. */
const [, , heapLimit, ...OWN_DIRECTORIES] = process.argv;
const HEAP_LIMIT_BYTES = Number(heapLimit);

/** A thread and the shared record of what it is doing. */
interface Entry {
  readonly worker: Worker;
  readonly ledger: WorkLedger;
}

/** The process of the workers. Its main thread only passes messages on, so it responds even if scripts block their threads. */
function main(): void {
  const workers = new Map<number, Entry>();
  const watched = createWatchedFlag();
  const ledgers = (): WorkLedger[] => [...workers.values()].map(({ ledger }) => ledger);
  const memory = new MemoryWatch({
    heapLimitBytes: HEAP_LIMIT_BYTES,
    workers: ledgers,
    clock: systemClock,
    usedBytes: () => process.memoryUsage.rss(),
    onOverLimit: (usedBytes) => report({ type: 'over-limit', usedBytes }, killGroup),
    mayStop: () => mayStopWatching(watched, ledgers()),
  });
  const deadline = new DeadlineWatch({
    steadyClock: systemClock,
    onTerm: () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      for (const { worker } of workers.values()) worker.postMessage({ type: 'abort' });
    },
    onKill: killGroup,
  });
  process.on('message', (request: HostRequest) => {
    if (request.type === 'deadline') return deadline.set(request.deadline);
    const { worker: number } = request;
    switch (request.type) {
      case 'start':
        workers.set(number, startWorker(request, watched, { onReply, onWatch: () => memory.watch() }));
        return;
      case 'run':
      case 'call':
      case 'response':
      case 'abort':
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        return workers.get(number)?.worker.postMessage(request);
      case 'end':
        void workers.get(number)?.worker.terminate();
    }
  });
  const onReply = (reply: HostReply, passed?: () => void): void => {
    if (reply.type === 'exited') workers.delete(reply.worker);
    report(reply, passed);
  };
  // The main process is gone: end everything, also scripts in an endless loop and processes that they have started.
  process.on('disconnect', killGroup);
}

/** Starts a thread with its limits; its exit is always reported, with the reason. */
function startWorker(
  { worker: number, program, path, line }: StartRequest,
  watched: SharedArrayBuffer,
  {
    onReply,
    onWatch,
  }: {
    readonly onReply: (reply: HostReply, passed?: () => void) => void;
    readonly onWatch: () => void;
  },
): Entry {
  const inFlight = createInFlightCounter();
  const stripper = serveStripper();
  const buffers = createLedger(watched);
  const ledger = new WorkLedger(buffers);
  const workerData: WorkerData = {
    number,
    path,
    inFlight,
    stripper,
    ledger: buffers,
    ownDirectories: OWN_DIRECTORIES,
    ...(line === undefined ? {} : { line }),
  };
  if (ledger.begin()) onWatch();
  const worker = new Worker(new URL(program), {
    workerData,
    transferList: [stripper.port],
    resourceLimits: {
      maxOldGenerationSizeMb: HEAP_LIMIT_BYTES / MIB,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB,
    },
  });
  let failure: string | undefined;
  worker.on('message', (reply: WorkerReply | WatchRequest) => {
    if (reply.type === 'watch') return onWatch();
    const passed =
      reply.type === 'output' ? () => acknowledge(inFlight, Buffer.byteLength(reply.text)) : undefined;
    onReply({ type: 'worker', worker: number, reply }, passed);
  });
  worker.on('error', (error: unknown) => {
    failure = isOutOfMemory(error)
      ? `it exceeded its memory limit (${HEAP_LIMIT_BYTES / MIB} MiB)`
      : `uncaught error: ${failureText(error, OWN_DIRECTORIES)}`;
  });
  worker.on('exit', (code) => {
    onReply({ type: 'exited', worker: number, reason: failure ?? `it called process.exit(${code})` });
  });
  return { worker, ledger };
}

/** V8 ends a thread that exceeds its heap. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Sends a reply; `passed` is called when it has left this process. */
function report(reply: HostReply, passed?: () => void): void {
  process.send?.(reply, undefined, undefined, () => passed?.());
}

/** This process, its threads, and the processes that scripts have started. */
function killGroup(): void {
  process.kill(-process.pid, 'SIGKILL');
}

main();
