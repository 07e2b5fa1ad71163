import { redactedResponse } from '@addon-operator/http-server/response';
import { Redactor } from '@addon-operator/masking/redactor';
import { apiResponse } from '../src/server/api/api-handler.ts';
import { trustedRequester } from '../src/server/api/requester.ts';
import { createView, type ViewDeps } from '../src/views/operator-view.ts';
import { NO_COMMANDS } from '../test/support/daemon-view-stub.ts';
import { name, type OperatorLab, operatorLab } from '../test/support/operator-lab.ts';
import { percentile, report } from './figures.ts';

const MODULES = 500;
const TASKS = 2_000;
const RUNS = 2_000;
const SECRETS = 20;
const WARM_UPS = 10;
const ROUNDS = 31;
/** Nothing waits for longer than a frame of a page. */
const AIM_MS = 10;
/** Bytes of a response. */
const AIMS: readonly (readonly [path: string, maxBytes: number])[] = [
  ['/now', 60_000],
  ['/modules', 150_000],
  ['/queues', 200_000],
  ['/next', 150_000],
  ['/runs', 60_000],
];

/** Answers of the API with 500 modules behind a task that fails, against serializing the same responses. */
export async function benchApi(): Promise<void> {
  const modules = Array.from({ length: MODULES }, (_, index) => `module${String(index).padStart(3, '0')}`);
  const hook = { beforeHelm: 1, schedule: [{ name: 'hourly', crontab: '0 * * * *', queue: 'hourly' }] };
  const hooks = Object.fromEntries(modules.map((module) => [`${module}/hook.sh`, hook]));
  await using lab = await operatorLab(modules, hooks);
  await fill(lab, modules);
  const view = createView({
    operator: lab.operator,
    health: { outage: undefined },
    journal: lab.journal,
    values: lab.values,
    memory: lab.operator.memory,
    extensions: lab.operator.extensions,
    helm: {} as ViewDeps['helm'],
    namespace: 'default',
    readObjects: async () => ({ objects: [], eventsProblem: '' }),
    compare: async () => '',
    compareRevisions: () => '',
    patchAccess: () => [],
  });
  const redactor = new Redactor();
  for (let index = 0; index < SECRETS; index += 1) redactor.add(`a password with number ${index}`);
  const parts = { view, identity: NO_COMMANDS.identity, parameters: { list: () => [] } };
  const never = new AbortController().signal;
  const body = async (path: string): Promise<string> => {
    const request = { method: 'GET', path: `/api/v1${path}`, query: new URLSearchParams() };
    return redactedResponse(await apiResponse(parts, request, trustedRequester('bench'), never), redactor)
      .body;
  };
  for (const [path, maxBytes] of AIMS) {
    const data: unknown = JSON.parse(await body(path));
    const responses: number[] = [];
    const references: number[] = [];
    for (let round = 0; round < WARM_UPS + ROUNDS; round += 1) {
      responses.push(await tookMs(() => body(path)));
      references.push(await tookMs(() => JSON.stringify(data)));
    }
    const [response, reference] = [responses, references].map((all) => percentile(all.slice(WARM_UPS), 0.5));
    if (response === undefined || reference === undefined) continue;
    const bytes = Buffer.byteLength(await body(path));
    report(
      `api: ${path}, ${Math.round(bytes / 1_000)} kB (at most ${maxBytes / 1_000})`,
      `${response.toFixed(2)} ms`,
      `${reference.toFixed(2)} ms`,
      response / reference,
      `<= ${AIM_MS} ms`,
    );
  }
}

/** A converge that is over, runs in the journal, then a module that fails in front of 2,000 tasks. */
async function fill(lab: OperatorLab, modules: readonly string[]): Promise<void> {
  await lab.converge();
  while (lab.main.length > 0) await lab.settle();
  const { journal, operator } = lab;
  for (let index = 0; index < RUNS; index += 1) {
    const module = modules[index % modules.length] ?? '';
    const run = journal.begin({
      queue: 'main',
      taskId: `main/${index}`,
      type: 'ModuleRun',
      module,
      hook: '',
      binding: '',
      trigger: 'change',
      eventId: `event-${index}`,
      triggeredBy: undefined,
      attempt: 1,
      queuedMs: 0,
    });
    journal.end(run, { result: 'success' });
  }
  lab.obstacles.set(`deploy ${modules[0] ?? ''}`, () => {
    throw new Error(`upgrade failed: ${'the object is not accepted by the API server, '.repeat(40)}`);
  });
  for (let index = 0; index < TASKS; index += 1)
    operator.router.main.append({
      type: 'ModuleRun',
      module: name(modules[index % modules.length] ?? ''),
      trigger: 'change',
      activation: '',
      doModuleStartup: false,
      isPartOfConverge: false,
    });
  await lab.settle();
}

async function tookMs(act: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}
