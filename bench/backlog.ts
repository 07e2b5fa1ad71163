import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { note } from './figures.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const PROBE = join(import.meta.dirname, 'loop-probe-main.ts');
const LIMIT_MB = 512;
/** Of the heap: the rest of the 512 MiB is for code, buffers and stacks. */
const HEAP_MB = 384;
const WRITES_AT_ONCE = 8;
const POLL_MS = 500;
const GIVE_UP_MS = 300_000;
const ROUNDS = [
  { name: 'small', events: 100_000, objects: 1_000, bytes: 1_000 },
  { name: 'large', events: 2_000, objects: 20, bytes: 1_000_000 },
] as const;
type Round = (typeof ROUNDS)[number];

interface Probe {
  readonly p999Ms: number;
  readonly maxMs: number;
  readonly busyP999Ms: number;
  readonly busyMaxMs: number;
  readonly maxRssMb: number;
  readonly maxHeapMb: number;
  readonly rssMb: number;
}

/**
 * A daemon limited to 512 MiB whose hook fails while 100,000 events of 1 kB, then 2,000 of 1 MB come: when the hook is
 * mended, the last state it was given of each object is that of the API server.
 */
export async function benchBacklog(): Promise<void> {
  for (const round of ROUNDS) await benchRound(round);
}

async function benchRound(round: Round): Promise<void> {
  await using api = await startSandboxProcess();
  await using world = await World.create(api.backend, {});
  const seen = join(world.directory, 'seen');
  const broken = join(world.directory, 'broken');
  const probeFile = join(world.directory, 'probe');
  const bareFile = join(world.directory, 'bare-probe');
  await world.write('global-hooks', { 'backlog.sh': hookFor(world.namespace, { seen, broken }) });
  await using daemon = DaemonProcess.start(
    world,
    { 'log-level': 'info' },
    { BENCH_PROBE_FILE: probeFile },
    [],
    [
      process.execPath,
      `--max-old-space-size=${HEAP_MB}`,
      '--no-warnings',
      '--import',
      PROBE,
      join(import.meta.dirname, '../src/main.ts'),
    ],
  );
  await daemon.untilConverged();
  await writeFile(broken, '');
  using _bare = startBareProbe(bareFile);
  for (const file of [probeFile, bareFile]) await writeFile(`${file}.begin`, '');
  const truth = await change(world, round);
  note(`  ${round.name}: all ${round.events} events are sent`);
  const page = await daemon.page('/metrics');
  note(
    `  ${page
      .split('\n')
      .filter((line) => /^[^#]*hook_backlog/.test(line))
      .join(', ')}`,
  );
  await rm(broken);
  const deadlineMs = Date.now() + GIVE_UP_MS;
  while (Date.now() < deadlineMs && lostOf(truth, seen).length > 0) await sleep(POLL_MS);
  const lost = lostOf(truth, seen);
  const { p999Ms, maxMs, busyP999Ms, busyMaxMs, maxRssMb, maxHeapMb } = readProbe(probeFile);
  const bare = readProbe(bareFile);
  note(
    `${round.events} events of ${round.bytes} bytes for ${round.objects} objects while a hook fails, --max-old-space-size=${HEAP_MB}: ` +
      `last states lost ${lost.length} (aim 0), RSS at most ${maxRssMb.toFixed(0)} MB (aim < ${LIMIT_MB}), heap at most ${maxHeapMb.toFixed(0)} MB, ` +
      `event loop p99.9 ${p999Ms.toFixed(1)} ms (aim < 100 on an idle machine), longest ${maxMs.toFixed(0)} ms; ` +
      `an empty process beside it p99.9 ${bare.p999Ms.toFixed(1)} ms, longest ${bare.maxMs.toFixed(0)} ms; ` +
      `processor interval between refreshes 10 ms apart p99.9 ${busyP999Ms.toFixed(1)} ms (aim < 100), longest ${busyMaxMs.toFixed(0)} ms`,
  );
}

/** What the event loop of a process that does nothing says of the machine. */
function startBareProbe(file: string): Disposable {
  const child = spawn(
    process.execPath,
    ['--no-warnings', '--import', PROBE, '-e', 'setInterval(() => {}, 1_000)'],
    { env: { ...process.env, BENCH_PROBE_FILE: file }, stdio: 'ignore' },
  );
  return { [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

function readProbe(file: string): Probe {
  return JSON.parse(readFileSync(file, 'utf8')) as Probe;
}

/** A hook that fails while a file is there, and else notes the last state of each object. */
function hookFor(
  namespace: string,
  { seen, broken }: { readonly seen: string; readonly broken: string },
): string {
  return shHook(
    `
kubernetes:
- name: maps
  apiVersion: v1
  kind: ConfigMap
  labelSelector: {matchLabels: {backlog: 'yes'}}
  namespace: {nameSelector: {matchNames: [${namespace}]}}
  queue: backlog`,
    `if [ -e ${broken} ]; then exit 1; fi
jq -r '.[] | select(.type == "Event") | "\\(.object.metadata.name) \\(.object.data.n)"' "$BINDING_CONTEXT_PATH" >> ${seen}`,
  );
}

/** Changes the objects one after another, several at once, and returns the last state of each. */
async function change(world: World, { events, objects, bytes }: Round): Promise<ReadonlyMap<string, string>> {
  const truth = new Map<string, string>();
  const text = 'x'.repeat(bytes);
  const write = async (worker: number): Promise<void> => {
    for (let event = worker; event < events; event += WRITES_AT_ONCE) {
      // Each object belongs to one worker, so that its states come in order.
      const name = `map-${worker}-${Math.floor(event / WRITES_AT_ONCE) % Math.ceil(objects / WRITES_AT_ONCE)}`;
      const data = { n: String(event), text };
      const path = `/api/v1/namespaces/${world.namespace}/configmaps`;
      const metadata = { name, labels: { backlog: 'yes' } };
      const isKnown = truth.has(name);
      await world.expect({
        method: isKnown ? 'PUT' : 'POST',
        path: isKnown ? `${path}/${name}` : path,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
      });
      truth.set(name, String(event));
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, (_, worker) => write(worker)));
  return truth;
}

function lostOf(truth: ReadonlyMap<string, string>, seenFile: string): readonly string[] {
  const lines = existsSync(seenFile) ? readFileSync(seenFile, 'utf8').split('\n') : [];
  const seen = new Map(lines.map((line) => line.split(' ') as [string, string]));
  return [...truth].filter(([name, state]) => seen.get(name) !== state).map(([name]) => name);
}
