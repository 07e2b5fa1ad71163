import { Worker } from 'node:worker_threads';
import { steadyClock, systemClock } from '../../lib/clock.ts';
import { DeadlineWatch } from '../../process/run-deadline.ts';
import { failureText } from './failure-text.ts';
import type { HostReply, HostRequest, WorkerReply } from './host-protocol.ts';
import { MemoryWatch } from './memory-watch.ts';
import { serveStripper } from './type-stripper.ts';
import { acknowledge, createInFlightCounter } from './worker-output.ts';
import type { WorkerData } from './worker-thread.ts';

const MIB = 1024 * 1024;
const YOUNG_GENERATION_MIB = 16;
/** The daemon says how large the heap of a worker may get. */
const HEAP_LIMIT_BYTES = Number(process.argv[2]);

/** The process of the workers. Its main thread only passes messages on, so it answers whatever the hooks do. */
function main(): void {
  const workers = new Map<number, Worker>();
  const busy = new Set<number>();
  const memory = new MemoryWatch({
    heapLimitBytes: HEAP_LIMIT_BYTES,
    busy,
    clock: systemClock,
    usedBytes: () => process.memoryUsage.rss(),
    onOverLimit: (usedBytes) => tell({ type: 'over-limit', usedBytes }, killGroup),
  });
  const deadline = new DeadlineWatch({
    steadyClock,
    onTerm: () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      for (const worker of workers.values()) worker.postMessage({ type: 'abort' });
    },
    onKill: killGroup,
  });
  process.on('message', (request: HostRequest) => {
    if (request.type === 'deadline') return deadline.set(request.deadline);
    const { worker: number } = request;
    switch (request.type) {
      case 'start':
        busy.add(number);
        memory.watch();
        workers.set(number, startWorker(request, onReply));
        return;
      case 'run':
      case 'call':
        // One that has ended is told of already; it would count as busy for ever.
        if (!workers.has(number)) return;
        busy.add(number);
        memory.watch();
        return workers.get(number)?.postMessage(request);
      case 'answer':
      case 'abort':
        return workers.get(number)?.postMessage(request);
      case 'end':
        void workers.get(number)?.terminate();
    }
  });
  const onReply = (reply: HostReply, passed?: () => void): void => {
    if (reply.type === 'exited') {
      workers.delete(reply.worker);
      busy.delete(reply.worker);
      memory.forget(reply.worker);
    } else if (reply.type === 'worker' && endsWork(reply.reply)) {
      busy.delete(reply.worker);
      memory.note(reply.worker, 'memoryBytes' in reply.reply ? reply.reply.memoryBytes : 0);
    }
    tell(reply, passed);
  };
  // The daemon is gone: nothing may go on, neither a hook in an endless loop nor what hooks have started.
  process.on('disconnect', killGroup);
}

function startWorker(
  { worker: number, program, path }: Extract<HostRequest, { readonly type: 'start' }>,
  onReply: (reply: HostReply, passed?: () => void) => void,
): Worker {
  const inFlight = createInFlightCounter();
  const stripper = serveStripper();
  const workerData: WorkerData = { path, inFlight, stripper };
  const worker = new Worker(new URL(program), {
    workerData,
    transferList: [stripper.port],
    resourceLimits: {
      maxOldGenerationSizeMb: HEAP_LIMIT_BYTES / MIB,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB,
    },
  });
  let failure: string | undefined;
  worker.on('message', (reply: WorkerReply) => {
    const passed =
      reply.type === 'output' ? () => acknowledge(inFlight, Buffer.byteLength(reply.text)) : undefined;
    onReply({ type: 'worker', worker: number, reply }, passed);
  });
  worker.on('error', (error: unknown) => {
    failure = isOutOfMemory(error)
      ? `it used more memory than it may (${HEAP_LIMIT_BYTES / MIB} MiB)`
      : `nobody caught its error: ${failureText(error)}`;
  });
  worker.on('exit', (code) => {
    onReply({ type: 'exited', worker: number, reason: failure ?? `it called process.exit(${code})` });
  });
  return worker;
}

function endsWork({ type }: WorkerReply): boolean {
  return type !== 'output' && type !== 'ask';
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tell(reply: HostReply, passed?: () => void): void {
  process.send?.(reply, undefined, undefined, () => passed?.());
}

function killGroup(): void {
  process.kill(-process.pid, 'SIGKILL');
}

main();
