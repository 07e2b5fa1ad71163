import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { note, percentile, report, sum } from './figures.ts';
import { cpuMs } from './process-usage.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const EVENTS = 25;
const BURST = 2_000;
const WRITES_AT_ONCE = 16;
/** Many short ones: other work on the machine changes the CPU time of the same code by a third. */
const ROUNDS = { events: 24, burst: 7 };
/** The first ones compile what they run. */
const WARM_UP = 2;
const SETTLE_MS = 700;
const MAX_RATIO = 1.03;
const OPERATOR = [
  process.execPath,
  '--import',
  join(import.meta.dirname, 'journal-switch.ts'),
  join(import.meta.dirname, '../src/main.ts'),
];

/** What happens beside a load: nothing, runs are recorded, or a page follows them as well. */
const STATES = ['bare', 'journal', 'page'] as const;
type State = (typeof STATES)[number];

/**
 * CPU of a daemon for single events and for bursts, with its journal and with a page that follows, against the same daemon
 * without either. The three take turns.
 */
export async function benchObservedEvents(): Promise<void> {
  await using sandbox = await startSandboxProcess();
  await using world = await World.create(sandbox.backend, { globalHooks: {} });
  await world.create('configmaps', { metadata: { name: 'counter' } });
  await world.write('global-hooks', {
    'event.sh': shHook(
      `kubernetes: [{name: counter, kind: ConfigMap, nameSelector: {matchNames: [counter]}, executeHookOnSynchronization: false,
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}, keepFullObjectsInMemory: false, jqFilter: .data.n}]`,
      'echo started',
    ),
    'burst.sh': shHook(
      `kubernetes: [{name: burst, kind: Secret, queue: burst, executeHookOnSynchronization: false,
  namespace: {labelSelector: {matchLabels: {burst: ${world.namespace}}}}}]`,
      'echo "$(jq length "$BINDING_CONTEXT_PATH") events"',
    ),
  });
  await fill(world);
  const flags = { 'log-level': 'info', ui: 'loopback', 'ui-port': '0' };
  await using daemon = DaemonProcess.start(world, flags, {}, [], OPERATOR);
  await daemon.untilConverged();
  const load = new Load(world, daemon);
  await compare(`CPU of ${EVENTS} events`, load, ROUNDS.events, () => load.events());
  await compare(`CPU of a burst of ${BURST} events`, load, ROUNDS.burst, () => load.burst());
}

async function compare(what: string, load: Load, rounds: number, run: () => Promise<number>): Promise<void> {
  const used: Record<State, number[]> = { bare: [], journal: [], page: [] };
  for (let round = -WARM_UP; round < rounds; round += 1) {
    // The order changes, so that no state is always the one behind another.
    for (const state of round % 2 === 0 ? STATES : STATES.toReversed()) {
      const ms = await load.during(state, run);
      if (round >= 0) used[state].push(ms);
    }
  }
  const bareMs = percentile(used.bare, 0.5);
  for (const state of ['journal', 'page'] as const) {
    // Neighbours in time are compared, since the code becomes faster while it runs.
    const ratios = used[state].map((ms, round) => ms / (used.bare[round] ?? Number.NaN));
    const ms = percentile(used[state], 0.5);
    report(
      `${what}: ${state}`,
      `${ms.toFixed(0)} ms`,
      `${bareMs.toFixed(0)} ms`,
      ms / bareMs,
      `<= ${MAX_RATIO}`,
    );
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => percentile(ratios, share).toFixed(3));
    note(`  ratios of neighbours: ${middle}, half of them from ${low} to ${high}`);
  }
}

/** What the daemon is given to do. */
class Load {
  readonly #world: World;
  readonly #daemon: DaemonProcess;
  #isRecording = true;
  #count = 0;

  constructor(world: World, daemon: DaemonProcess) {
    this.#world = world;
    this.#daemon = daemon;
  }

  async during(state: State, run: () => Promise<number>): Promise<number> {
    await this.#record(state !== 'bare');
    const stop = new AbortController();
    const following = state === 'page' ? await follow(this.#world, stop.signal) : undefined;
    // In each state: after a pause the same work takes more CPU time.
    await sleep(SETTLE_MS);
    const used = await run();
    stop.abort();
    await following?.ended;
    return used;
  }

  async #record(isWanted: boolean): Promise<void> {
    if (isWanted === this.#isRecording) return;
    this.#isRecording = isWanted;
    const before = this.#daemon.log.records.length;
    process.kill(this.#daemon.pid, 'SIGUSR2');
    await this.#daemon.log.until((records) =>
      records.slice(before).some(({ msg }) => msg === (isWanted ? 'journal on' : 'journal off')),
    );
  }

  /** CPU of the daemon, in milliseconds. */
  async events(): Promise<number> {
    const before = cpuMs(this.#daemon.pid);
    for (let event = 0; event < EVENTS; event += 1) {
      const printed = this.#printed('started').length;
      this.#count += 1;
      await this.#world.merge('configmaps', 'counter', { data: { n: String(this.#count) } });
      await this.#daemon.log.until(() => this.#printed('started').length > printed);
    }
    return cpuMs(this.#daemon.pid) - before;
  }

  /** The same, of a namespace with many objects that begins to match. */
  async burst(): Promise<number> {
    const seen = (): number => sum(this.#printed(' events').map((line) => Number.parseInt(line, 10)));
    const goal = seen() + BURST;
    const before = cpuMs(this.#daemon.pid);
    await this.#label(this.#world.namespace);
    await this.#daemon.log.until(() => seen() >= goal);
    const used = cpuMs(this.#daemon.pid) - before;
    await this.#label(null);
    await sleep(SETTLE_MS);
    return used;
  }

  async #label(value: string | null): Promise<void> {
    await this.#world.expect({
      method: 'PATCH',
      path: `/api/v1/namespaces/${this.#world.namespace}`,
      body: { metadata: { labels: { burst: value } } },
      contentType: 'application/merge-patch+json',
    });
  }

  #printed(end: string): readonly string[] {
    return this.#daemon.log.printed.filter((line) => line.endsWith(end));
  }
}

async function fill(world: World): Promise<void> {
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < BURST) {
      next += 1;
      await world.create('secrets', { metadata: { name: `object-${next}` } });
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
}

/** A page that reads everything, until the signal aborts. */
async function follow(world: World, signal: AbortSignal): Promise<{ readonly ended: Promise<void> }> {
  const address = readFileSync(join(world.directory, 'debug.socket.ui'), 'utf8').trim();
  const [page = '', token = ''] = address.split('#token=');
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(new URL('../api/v1/stream', page), { headers, signal });
  const read = async (): Promise<void> => {
    try {
      for await (const _chunk of response.body ?? []) if (signal.aborted) return;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  return { ended: read() };
}
