import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { NO_TRACER, type Tracer } from '@addon-operator/base/trace';
import { startTracing } from '@addon-operator/tracing';
import { Journal } from '../src/journal/journal.ts';
import { OtlpReceiver } from '../test/support/otlp-receiver.ts';
import { percentile, report } from './figures.ts';
import { benchObservedEvents } from './observed-events.ts';
import { bareRunsMs } from './reference/posix-spawn.ts';

const RUNS = 5_000;
const ROUNDS = 7;
const BARE_RUNS = 200;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const KEPT_RUNS = 2_000;
const LINES = 64;
const LINE_BYTES = 1_000;
const MIB = 1024 * 1024;

/** What the journal and spans cost for each event that runs a hook, against a bare run of an empty script. */
export async function benchObserve(): Promise<void> {
  const bareMs = await bareRunMs();
  const journal = new Journal({ clock: systemClock });
  const journalMs = medianMs(() => recordRun(journal, () => 'a line'));
  reportShare('journal: recording one hook run', journalMs, bareMs, 0.03);
  const off = medianMs(() => traceEvent(NO_TRACER));
  reportShare('traces off: one event', off, bareMs, 0.01);
  await using receiver = await OtlpReceiver.start();
  await using running = new AsyncDisposableStack();
  const tracer = await startTracing({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_MAX_QUEUE_SIZE: '100000' },
    clock: systemClock,
    steadyClock: systemClock,
    log: silentLogger,
    version: '1',
    serviceName: 'bench',
    bootId: 'bench',
    redact: (text) => text,
    onDropped: () => undefined,
    running,
  });
  const on = medianMs(() => traceEvent(tracer));
  reportShare('traces on: five spans of one event', on, bareMs, 0.05);
  const bytes = fullJournalBytes();
  report(
    'journal: memory when it is full',
    `${(bytes / MIB).toFixed(1)} MiB`,
    '12 MiB',
    bytes / MIB / 12,
    '<= 1',
  );
  await benchObservedEvents();
}

function reportShare(what: string, ms: number, bareMs: number, aim: number): void {
  report(
    what,
    `${(ms * 1_000).toFixed(1)} us`,
    `${(bareMs * 1_000).toFixed(0)} us`,
    ms / bareMs,
    `<= ${aim}`,
  );
}

async function bareRunMs(): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const script = join(directory, 'hook.sh');
    await writeFile(script, '#!/bin/sh\n', { mode: 0o755 });
    return percentile(bareRunsMs(script, [`PATH=${process.env['PATH'] ?? ''}`], BARE_RUNS), 0.5);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function recordRun(journal: Journal, line: () => string, lines = 1): void {
  const start = {
    queue: 'main',
    taskId: 'main/1',
    type: 'ModuleHookRun',
    module: 'web',
    hook: 'hooks/hook.sh',
    binding: 'kubernetes',
    trigger: 'Kubernetes',
    eventId: '5d1c07a2-17',
    triggeredBy: undefined,
    attempt: 1,
    queuedMs: 0,
  };
  const run = journal.begin(start);
  for (let count = 0; count < lines; count += 1) journal.print(run, line());
  journal.end(run, { result: 'success' });
}

function traceEvent(tracer: Tracer): void {
  const attributes = { 'addon_operator.module': 'web', 'addon_operator.hook': 'hooks/hook.sh' };
  const event = tracer.start({ name: 'event kubernetes', traceId: TRACE, kind: 'consumer', attributes });
  const task = event.child({ name: 'task ModuleHookRun', kind: 'consumer', attributes });
  task.child({ name: 'queue wait' }).end();
  const hook = task.child({ name: 'hook run hooks/hook.sh', attributes });
  hook.child({ name: 'patch values', attributes }).end();
  hook.end();
  task.end();
  event.end();
}

/** Processor time of one call, in milliseconds. */
function medianMs(act: () => void): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (let count = 0; count < RUNS; count += 1) act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / RUNS;
  });
  return percentile(rounds, 0.5);
}

/** A journal of as many runs as it keeps, with more output than it keeps. */
function fullJournalBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  const journal = new Journal({ clock: systemClock });
  // Each line a string of its own, as those that are read from a pipe.
  const line = (): string => Buffer.alloc(LINE_BYTES, 'x').toString('latin1');
  for (let run = 0; run < KEPT_RUNS; run += 1) recordRun(journal, line, LINES);
  collect();
  const used = process.memoryUsage().heapUsed - before;
  // It must live until here.
  if (journal.size.runs === 0) throw new Error('the journal is empty');
  return used;
}
