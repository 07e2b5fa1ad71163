/**
 * `npm run spine`: records which lines run for one event, from the watch until the patch of its hook is applied, and prints
 * them by file. With `--write` it also brings the tables of docs/architecture.md up to date, with `--check` it compares them.
 *
 * A daemon runs here from its sources, on a sandbox in another process. V8 counts what ran between the change of the object and
 * the end of the attempt, after a first event has loaded and compiled everything. The observers are recorded once more
 * with Module objects, whose status is written later.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { markdownTable } from '@addon-operator/strings/markdown-table';
import { startSandboxProcess } from '../../bench/sandbox-process.ts';
import { type Backend, World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';
import { projectRoot } from './checkout.ts';
import { type ExecutedLines, executedLines, type Layer, layerOf, spineProblems, withRows } from './spine.ts';

const PAGE = join(projectRoot, 'docs/architecture.md');
const PAGE_LAYERS: readonly Layer[] = ['way', 'observers'];
/** Each look for the status moves the clock so far: what is no news is written after half a minute. */
const STATUS_DELAY_MS = 10_000;
const [NAMESPACE, QUEUE] = ['shop', 'orders'];

/** Writes all that a hook can: a patch of an object, a patch of values that changes nothing, and a metric. */
const HOOK = shHook(
  `
kubernetes:
- name: orders
  apiVersion: v1
  kind: ConfigMap
  queue: ${QUEUE}
  nameSelector: {matchNames: [orders]}
  namespace: {nameSelector: {matchNames: [${NAMESPACE}]}}
  includeSnapshotsFrom: [orders]
  jqFilter: .data`,
  `
echo '{"operation": "MergePatch", "apiVersion": "v1", "kind": "ConfigMap", "namespace": "${NAMESPACE}", "name": "report",
  "mergePatch": {"data": {"seen": "'$$'"}}}' > "$KUBERNETES_PATCH_PATH"
echo '[{"op": "add", "path": "/shop/isSeen", "value": true}]' > "$VALUES_JSON_PATCH_PATH"
echo '{"name": "orders_seen", "action": "add", "value": 1, "labels": {}}' > "$METRICS_PATH"
echo handled`,
);

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
await using sandbox = await startSandboxProcess();
const way = await linesOfOneEvent(sandbox.backend, { hasModuleObjects: false });
const everything = await linesOfOneEvent(sandbox.backend, { hasModuleObjects: true });
const observed = [...everything].filter(([file]) => layerOf(file) === 'observers');
const executed: ExecutedLines = new Map([
  ...way,
  ...observed.map(([file, lines]) => [file, Math.max(lines, way.get(file) ?? 0)] as const),
]);
const before = readFileSync(PAGE, 'utf8');
if (process.argv.includes('--check')) {
  report(PAGE_LAYERS.flatMap((layer) => spineProblems(before, layer, executed)));
} else {
  print(
    markdownTable(
      ['lines', 'layer', 'file'],
      [...executed]
        .toSorted(([, a], [, b]) => b - a)
        .map(([file, lines]) => [String(lines), layerOf(file), file]),
    ),
  );
  if (process.argv.includes('--write')) {
    const page = PAGE_LAYERS.reduce((text, layer) => withRows(text, layer, executed), before);
    writeFileSync(PAGE, page);
    report(PAGE_LAYERS.flatMap((layer) => spineProblems(page, layer, executed)));
  }
}

async function linesOfOneEvent(
  backend: Backend,
  { hasModuleObjects }: { readonly hasModuleObjects: boolean },
): Promise<ExecutedLines> {
  await using world = await World.create(backend, {
    namespace: NAMESPACE,
    flags: { 'log-level': 'info', 'module-objects': String(hasModuleObjects) },
    modules: {
      '010-shop/hooks/orders.sh': HOOK,
      '010-shop/values.yaml': 'shopEnabled: true\nshop: {}\n',
    },
  });
  await world.create('configmaps', { metadata: { name: 'orders' } });
  await world.create('configmaps', { metadata: { name: 'report' } });
  await world.converge();
  const change = async (n: number): Promise<void> => {
    const printed = world.log.printed.length;
    const object = hasModuleObjects ? await moduleObject(backend) : '';
    await world.merge('configmaps', 'orders', { data: { n: String(n) } });
    await world.log.until(() => world.log.printed.length > printed);
    await world.daemon.operator.queues.get(QUEUE).untilEmpty();
    if (!hasModuleObjects) return;
    while ((await moduleObject(backend)) === object) {
      world.clock.jump(STATUS_DELAY_MS);
      await sleep(50);
    }
  };
  await change(1);
  await session.post('Profiler.takePreciseCoverage');
  await change(2);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const product = result.flatMap(({ url, functions }) => {
    const file = url.startsWith('file:') ? fileURLToPath(url).slice(projectRoot.length + 1) : '';
    const ranges = functions.flatMap((one) => one.ranges);
    return /^(?:src|packages)\//.test(file) && ranges.some(({ count }) => count > 0)
      ? [{ file, ranges }]
      : [];
  });
  return new Map(
    product.map(({ file, ranges }) => {
      const source = readFileSync(join(projectRoot, file), 'utf8');
      return [file, executedLines(file, source, ranges)] as const;
    }),
  );
}

/** The Module object with its status, as JSON. */
async function moduleObject(backend: Backend): Promise<string> {
  const { body } = await backend.request({ path: '/apis/addon-operator.io/v1alpha1/modules/shop' });
  return JSON.stringify(body);
}

function report(problems: readonly string[]): void {
  for (const problem of problems) print(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

function print(text: string): void {
  process.stdout.write(text);
}
