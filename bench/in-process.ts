import { sandboxBackend } from '../test/support/backends.ts';
import { type Backend, World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { eventLatenciesMs } from './event-latencies.ts';
import { percentile, report } from './figures.ts';
import { hookRunsMs } from './hook-runs.ts';
import { benchRestarts } from './in-process-restarts.ts';

const ROUNDS = 5;
const SH_RUNS = 100;
const THREAD_RUNS = 2_000;
const EVENTS = 300;
const WORKERS = 10;

const COUNT_SH = `count=$(grep -o '"binding"' "$BINDING_CONTEXT_PATH" | wc -l)
echo "{\\"name\\":\\"runs\\",\\"action\\":\\"add\\",\\"value\\":$count}" > "$METRICS_PATH"`;

/** The same hook as a script in a thread and as an executable, each run with all that belongs to it. */
export async function benchInProcess(): Promise<void> {
  await using backend = await sandboxBackend();
  await benchRuns(backend);
  await benchLargeValues(backend);
  await benchRestarts(backend);
  await benchEvents(backend);
  await benchMemory(backend);
}

function script(config: string, body: string): string {
  return `import { defineHook } from 'addon-operator/sdk';\nexport default defineHook(${config}, async (input) => { ${body} });\n`;
}

async function benchRuns(backend: Backend): Promise<void> {
  await using world = await World.create(backend, {
    globalHooks: {
      'count.sh': shHook('onStartup: 1', COUNT_SH),
      'count.ts': script('{ onStartup: 1 }', "input.metrics.add('runs', input.contexts.length);"),
      'nothing.sh': shHook('onStartup: 1', ':'),
      'nothing.ts': script('{ onStartup: 1 }', ''),
    },
    flags: { 'log-level': 'info' },
  });
  await world.converge();
  await compareRuns(world, 'count', 'counts its contexts, adds a metric', '>= 20');
  await compareRuns(world, 'nothing', 'does nothing', '-');
}

/** Values of some 200 KB, of which the hook reads one. */
async function benchLargeValues(backend: Backend): Promise<void> {
  const keys = Array.from(
    { length: 2_000 },
    (_, index) => `    key${index}: { text: '${'x'.repeat(80)}' }\n`,
  );
  await using world = await World.create(backend, {
    modules: { 'values.yaml': `global:\n  large:\n${keys.join('')}` },
    globalHooks: {
      'read.sh': shHook('onStartup: 1', `grep -q '"key7":' "$VALUES_PATH"`),
      'read.ts': script(
        '{ onStartup: 1 }',
        "if (input.values.get('global.large.key7') === undefined) throw new Error('lost');",
      ),
    },
    flags: { 'log-level': 'info' },
  });
  await world.converge();
  await compareRuns(world, 'read', 'reads one of 2,000 values', '-');
}

async function compareRuns(world: World, name: string, what: string, aim: string): Promise<void> {
  // What a run logs would be counted with both: its time is that of the reader.
  world.log.logger.setLevel('error');
  await runsASecond(world, `${name}.ts`, THREAD_RUNS);
  const rounds: { thread: number; sh: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const sh = await runsASecond(world, `${name}.sh`, SH_RUNS);
    const thread = await runsASecond(world, `${name}.ts`, THREAD_RUNS);
    rounds.push({ thread, sh });
  }
  const { thread, sh } = rounds.toSorted((a, b) => a.thread / a.sh - b.thread / b.sh)[
    Math.floor(ROUNDS / 2)
  ] ?? { thread: Number.NaN, sh: Number.NaN };
  report(
    `runs a second, a hook that ${what}`,
    `${thread.toFixed(0)}/s`,
    `sh ${sh.toFixed(0)}/s`,
    thread / sh,
    aim,
  );
}

async function runsASecond(world: World, name: string, count: number): Promise<number> {
  return count / ((await hookRunsMs(world, name, count)) / 1_000);
}

/** From the API server's acknowledgement of a change to the handler's first line in the log of the daemon. */
async function benchEvents(backend: Backend): Promise<void> {
  await using world = await World.create(backend, { flags: { 'log-level': 'info' } });
  await world.create('configmaps', { metadata: { name: 'counter' } });
  const namespace = `{ nameSelector: { matchNames: ['${world.namespace}'] } }`;
  const binding = (name: string): string =>
    `{ kubernetes: [{ name: '${name}', apiVersion: 'v1', kind: 'ConfigMap', namespace: ${namespace}, nameSelector: { matchNames: ['counter'] }, executeHookOnSynchronization: false, keepFullObjectsInMemory: false, jqFilter: '.data.n' }] }`;
  await world.write('global-hooks', { 'event.ts': script(binding('counter'), "console.log('started');") });
  await world.converge();
  const latenciesMs = await eventLatenciesMs(world, EVENTS);
  const aimMs = 5;
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const latencyMs = percentile(latenciesMs, share);
    report(
      `event acknowledged to start of the handler, ${name}`,
      `${latencyMs.toFixed(2)} ms`,
      `${aimMs} ms`,
      latencyMs / aimMs,
      name === 'p99' ? '<= 1' : '-',
    );
  }
}

/** What a worker adds to the memory of the process they share. */
async function benchMemory(backend: Backend): Promise<void> {
  const hooks = Array.from({ length: WORKERS }, (_, index) => [
    `h${index}.ts`,
    script('{ onStartup: 1 }', 'console.log(String(process.memoryUsage.rss()));'),
  ]);
  const rssMib: number[] = [];
  for (const some of [hooks.slice(0, 1), hooks]) {
    await using world = await World.create(backend, {
      globalHooks: Object.fromEntries(some) as Record<string, string>,
      flags: { 'log-level': 'info' },
    });
    await world.converge();
    rssMib.push(Number(world.log.printed.at(-1)) / 2 ** 20);
  }
  const [one = Number.NaN, all = Number.NaN] = rssMib;
  const each = (all - one) / (WORKERS - 1);
  report('memory of each further hook', `${each.toFixed(1)} MiB`, `${one.toFixed(0)} MiB`, each / one, '-');
}
