import { existsSync, writeFileSync } from 'node:fs';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded before the daemon: writes once a second how late its event loop is, how much of the processor its thread takes
 * between two looks 10 ms apart, and how much memory it takes. The delay is also that of a machine with other work; the
 * time on the processor is not. Both count from the time when a file says so: loading the program blocks every event loop.
 */
const RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;
const US_PER_MS = 1e3;
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();
const busy = createHistogram();
let before = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before);
  before = process.threadCpuUsage();
  busy.record(Math.max(1, Math.round(user + system)));
}, RESOLUTION_MS).unref();
let maxRss = 0;
let maxHeap = 0;
let isCounting = false;
const file = process.env['BENCH_PROBE_FILE'] ?? '/dev/null';
setInterval(() => {
  if (!isCounting && existsSync(`${file}.begin`)) {
    isCounting = true;
    histogram.reset();
    busy.reset();
  }
  const { rss, heapUsed } = process.memoryUsage();
  maxRss = Math.max(maxRss, rss);
  maxHeap = Math.max(maxHeap, heapUsed);
  const delayMs = (ns: number): number => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS);
  writeFileSync(
    file,
    JSON.stringify({
      p999Ms: delayMs(histogram.percentile(99.9)),
      maxMs: delayMs(histogram.max),
      busyP999Ms: busy.percentile(99.9) / US_PER_MS,
      busyMaxMs: busy.max / US_PER_MS,
      maxRssMb: maxRss / 2 ** 20,
      maxHeapMb: maxHeap / 2 ** 20,
      rssMb: rss / 2 ** 20,
    }),
  );
}, 1_000).unref();
