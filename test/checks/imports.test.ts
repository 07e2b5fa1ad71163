import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot, sourcesIn } from './checkout.ts';
import { circles, importsOf, loadedBy } from './import-graph.ts';
import { importsOfProject, sourcesOfProject } from './project-imports.ts';
import { purityViolations, ROOMS, roomOf, roomViolations } from './rooms.ts';

/** Files that decide and do not act. */
const PURE_FILES = [
  'webhooks/conversion/conversion-chain.ts',
  'webhooks/conversion/converted-objects-problem.ts',
  '../packages/crontab/src/cron-fields.ts',
  'releases/release-action.ts',
  'hook-config/parse-hook-config.ts',
  '../packages/kube-client/src/discovery-documents.ts',
  '../packages/kube-client/src/hand-over/hand-over-owner.ts',
  '../packages/kube-client/src/leader-election/lease-election.ts',
  '../packages/concurrency/src/backoff.ts',
  '../packages/base/src/errors.ts',
  '../packages/strings/src/go-duration.ts',
  '../packages/json/src/json.ts',
  '../packages/json/src/merge.ts',
  'metrics/exposition.ts',
  'modules/enablement.ts',
  'model/converge.ts',
  'model/tasks.ts',
  'server/probe-responses.ts',
  'values/apply-patch.ts',
  'values/config-map-content.ts',
];

const files = sourcesIn('src');
const imports = importsOf(files);

test('imports point down the map of rooms', () => {
  expect(roomViolations(imports)).toEqual([]);
});

test('no imports form a cycle, including those of types', () => {
  expect(circles(imports).map((way) => way.join(' > '))).toEqual([]);
  const circle = importsOf(
    new Map([
      ['a.ts', "import type { B } from './b.ts';"],
      ['b.ts', "import { A } from './a.ts';"],
    ]),
  );
  expect(circles(circle)).toEqual([
    ['a.ts', 'b.ts', 'a.ts'],
    ['b.ts', 'a.ts', 'b.ts'],
  ]);
});

test('the built-in jq engine is loaded by its own process and not by the daemon', () => {
  const all = importsOfProject(sourcesOfProject());
  const isLoadedBy = (program: string): boolean => loadedBy(program, all).has('../packages/jq/src/jq.ts');
  expect([isLoadedBy('main.ts'), isLoadedBy('daemon.ts')]).toEqual([false, false]);
  expect(isLoadedBy('jq-builtin-main.ts')).toBe(true);
});

test('the page is loaded only where it is wanted', () => {
  const loaders = imports.filter(
    ({ from, to, isTypeOnly }) => to.startsWith('ui/') && !from.startsWith('ui/') && !isTypeOnly,
  );
  expect(loaders.map(({ from, to }) => `${from} > ${to}`)).toEqual([
    'app/start.ts > ui/page.ts',
    'cli/daemon/print-page-address.ts > ui/address-file.ts',
  ]);
  expect(
    imports
      .filter(({ from, to, isTypeOnly }) => from === 'ui/page.ts' && to.startsWith('ui/') && !isTypeOnly)
      .map(({ to }) => to),
  ).toEqual(['ui/start-ui.ts']);
  expect(files.get('ui/page.ts')).toMatch(/'off'\) return;[^]*await import\('\.\/start-ui\.ts'\)/);
});

test('notifications are loaded only with a file of receivers', () => {
  const loaders = imports.filter(
    ({ from, to, isTypeOnly }) => to.startsWith('notify/') && !from.startsWith('notify/') && !isTypeOnly,
  );
  expect(loaders.map(({ from, to }) => `${from} > ${to}`)).toEqual([
    'app/prepare-notifying.ts > notify/start-notifying.ts',
  ]);
  expect(files.get('app/prepare-notifying.ts')).toMatch(
    /file === ''\) return undefined;\n\s+const .+ = await import\('\.\.\/notify/,
  );
});

test('libraries for traces are loaded by one file, which is loaded only when traces are wanted', () => {
  const [library, start] = ['otel-tracer.ts', 'start-tracing.ts'].map(
    (file) => `../packages/tracing/src/${file}`,
  );
  const sources = sourcesOfProject();
  const loading = importsOfProject(sources).filter(({ isTypeOnly }) => !isTypeOnly);
  const loaders = loading.filter(({ to }) => to.startsWith('@opentelemetry/'));
  expect([...new Set(loaders.map(({ from }) => from))]).toEqual([library]);
  expect(loading.filter(({ to }) => to === library).map(({ from }) => from)).toEqual([start]);
  expect(sources.get(start ?? '')).toContain("await import('./otel-tracer.ts')");
});

test('every room has a README', () => {
  const lacking = ROOMS.filter(({ name }) => !existsSync(join(projectRoot, 'src', name, 'README.md')));
  expect(lacking).toEqual([]);
});

test('every room of src/ is in the map', () => {
  const names = ROOMS.map(({ name }) => name);
  expect(
    [...new Set([...files.keys()].map(roomOf))].filter((room) => room !== undefined && !names.includes(room)),
  ).toEqual([]);
});

test('the pages for contributors name every room, from the top to the bottom of the map', () => {
  const names = ROOMS.map(({ name }) => name);
  const [contributing = '', architecture = ''] = ['CONTRIBUTING.md', 'docs/architecture.md'].map((page) =>
    readFileSync(join(projectRoot, page), 'utf8'),
  );
  const [, chain = ''] = /imports point down only:\n([^.]+)\./.exec(contributing) ?? [];
  expect([...chain.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name)).toEqual(names);
  const [, rooms = ''] = /^## Rooms\n([^]+?)^`packages\/`/m.exec(architecture) ?? [];
  const rows = [...rooms.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  expect(rows).toEqual(names.map((name) => `\`${name}\``));
});

test('the pages for contributors name every package', () => {
  const packages = readdirSync(join(projectRoot, 'packages'));
  for (const page of ['CONTRIBUTING.md', 'docs/architecture.md']) {
    const text = readFileSync(join(projectRoot, page), 'utf8');
    expect(
      packages.filter((name) => !text.includes(`\`${name}\``)).map((name) => `${page}: ${name}`),
    ).toEqual([]);
  }
});

test('no two files of src and packages have one name, but for entry points of packages', () => {
  const paths = [...sourcesOfProject().keys()].filter((file) => !file.endsWith('.test.ts'));
  const byName = Map.groupBy(paths, (file) => basename(file));
  const twins = [...byName].filter(([, files]) => files.length > 1).map(([name]) => name);
  // Programs and exports of src that lead to a package.
  expect(twins.toSorted()).toEqual(['host-main.ts', 'jq-builtin-main.ts', 'launcher-main.ts', 'sdk.ts']);
});

test('the packages that src/ loads are installed in production', () => {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(projectRoot, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  const installed = Object.keys({ ...dependencies, ...optionalDependencies });
  const missing = imports.filter(
    ({ to, isOwn, isTypeOnly }) =>
      !isOwn && !isTypeOnly && !to.startsWith('node:') && !installed.includes(packageOf(to)),
  );
  expect(missing.map(({ from, to }) => `src/${from} imports ${to}`)).toEqual([]);
});

test('pure files exist and load nothing with effects', () => {
  const sources = sourcesOfProject();
  expect(PURE_FILES.filter((file) => !sources.has(file))).toEqual([]);
  expect(purityViolations(PURE_FILES, importsOfProject(sources))).toEqual([]);
});

test.each([
  ['metrics/a.ts', "import { run } from '../hooks/run-hook.ts';", 'imports point down the map'],
  ['queues/a.ts', "import type { Hook } from '../hook-runs/a.ts';", 'imports point down the map'],
  ['events/a.ts', "import { Hook } from '../hooks/hook.ts';", 'events/ may import types only from hooks/'],
  ['status/a.ts', "export { merge } from '../values/values-store.ts';", 'status/ may not import values/'],
  [
    'status/a.ts',
    "const later = await import('../values/values-store.ts');",
    'status/ may not import values/',
  ],
  [
    'values/a.ts',
    "import { createHelmDriver } from '../releases/helm-driver.ts';",
    'imports point down the map',
  ],
  ['values/a.ts', "import {\n  a,\n  b,\n} from '../rubbish/b.ts';", 'there is no room rubbish'],
  ['values/a.ts', "import { x } from '../../test/support/x.ts';", 'it is outside of src/'],
  ['hooks/a.ts', "import { Registry } from 'prom-client';", 'prom-client may be imported only in metrics/'],
  [
    'metrics/a.ts',
    "import { block } from '@addon-operator/sdk';",
    '@addon-operator/sdk may be imported only in plan/, tools/',
  ],
  [
    'values/a.ts',
    "import { TaskQueue } from '@addon-operator/task-queue';",
    '@addon-operator/task-queue may be imported only in devkit/, app/, operator/',
  ],
  [
    'metrics/a.ts',
    "import { startTracing } from '@addon-operator/tracing';",
    '@addon-operator/tracing may be imported only in app/',
  ],
  [
    'app/a.ts',
    "import { trace } from '@opentelemetry/api';",
    '@opentelemetry/api may be imported only in packages/',
  ],
  [
    'values/a.ts',
    "import { createLogger } from '@addon-operator/logging/json-logger';",
    '@addon-operator/logging may be imported only in cli/',
  ],
  [
    'server/a.ts',
    "import { WorkerPools } from '@addon-operator/script-threads/worker-pools';",
    '@addon-operator/script-threads may be imported only in extensions/',
  ],
  ['hooks/a.ts', "import { block } from '../sdk.ts';", 'an entry point only leads to a package'],
  ['server/a.ts', "import { startUi } from '../ui/start-ui.ts';", 'imports point down the map'],
  ['ui/a.ts', "import type { Task } from '../operator/tasks.ts';", 'ui/ may not import operator/'],
])('a planted violation is reported: %s, %s', (file, source, problem) => {
  expect(roomViolations(importsOf(new Map([[file, source]])))).toEqual([expect.stringContaining(problem)]);
});

test('imports that the map allows are not reported', () => {
  const allowed = new Map([
    ['main.ts', "import { start } from './cli/start.ts';\n// import { a } from '../rubbish/a.ts';"],
    ['events/a.ts', "import type { Hook } from '../hooks/hook.ts';\nimport { b } from './b.ts';"],
    ['settings/a.ts', "import { ownProgram } from '../own-code.ts';\nimport pLimit from 'p-limit';"],
    ['metrics/a.ts', "import { Registry } from 'prom-client';"],
  ]);
  expect(roomViolations(importsOf(allowed))).toEqual([]);
});

test('an effect that a pure file loads through another file is reported', () => {
  const planted = importsOf(
    new Map([
      ['values/pure.ts', "import { a } from './other.ts';\nimport { isDeepStrictEqual } from 'node:util';"],
      ['values/other.ts', "import { readFile } from 'node:fs/promises';\nimport { load } from 'js-yaml';"],
    ]),
  );
  expect(purityViolations(['values/pure.ts'], planted)).toEqual([
    'src/values/pure.ts is pure, but loads node:util',
    'src/values/pure.ts is pure, but loads node:fs/promises',
  ]);
  expect(loadedBy('values/pure.ts', planted)).toContain('values/other.ts');
});

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
