import { type Import, loadedBy } from './import-graph.ts';

interface Room {
  readonly name: string;
  /** Rooms it may import; `*` means every room after it in the table. */
  readonly may: readonly string[] | '*';
  /** Rooms of which it may import types, so that nothing of them is loaded. */
  readonly mayTypesOf?: readonly string[];
}

/** The map of docs/architecture: a room imports only from rooms further down. */
export const ROOMS: readonly Room[] = [
  { name: 'cli', may: '*' },
  { name: 'devkit', may: '*' },
  { name: 'app', may: '*' },
  { name: 'plan', may: '*' },
  { name: 'webhooks', may: '*' },
  { name: 'leader', may: [], mayTypesOf: ['status', 'metrics', 'settings'] },
  { name: 'ui', may: ['server'], mayTypesOf: ['settings', 'status'] },
  { name: 'mcp', may: ['server'] },
  { name: 'notify', may: ['authorization', 'hooks'], mayTypesOf: ['status', 'metrics'] },
  { name: 'server', may: ['status', 'metrics'], mayTypesOf: ['settings', 'journal', 'recordings'] },
  {
    name: 'tools',
    may: ['modules', 'hooks', 'hook-config', 'values'],
    mayTypesOf: ['releases'],
  },
  { name: 'operator', may: '*' },
  { name: 'requests', may: '*' },
  { name: 'views', may: '*' },
  { name: 'reconcile', may: '*' },
  { name: 'hook-runs', may: '*' },
  { name: 'queues', may: '*' },
  { name: 'model', may: '*' },
  { name: 'extensions', may: ['authorization', 'modules', 'hooks'], mayTypesOf: ['releases', 'settings'] },
  { name: 'status', may: ['modules'], mayTypesOf: ['journal'] },
  { name: 'journal', may: [] },
  { name: 'events', may: [], mayTypesOf: ['hooks', 'hook-config'] },
  {
    name: 'delivery',
    may: ['artifacts', 'module-store', 'modules', 'releases', 'authorization', 'values', 'metrics'],
    mayTypesOf: ['settings'],
  },
  { name: 'artifacts', may: ['modules', 'authorization'] },
  { name: 'module-store', may: [], mayTypesOf: ['settings'] },
  {
    name: 'modules',
    may: ['releases', 'values'],
    mayTypesOf: ['authorization', 'hooks', 'hook-config', 'settings'],
  },
  { name: 'releases', may: [], mayTypesOf: ['settings'] },
  { name: 'authorization', may: [] },
  { name: 'recordings', may: [] },
  { name: 'hooks', may: ['hook-config', 'values', 'metrics'] },
  { name: 'hook-config', may: [] },
  { name: 'values', may: [], mayTypesOf: ['settings'] },
  { name: 'metrics', may: [] },
  { name: 'settings', may: [] },
];

/** Programs and entry points, which lie beside the rooms: they only lead to a package. */
const ENTRIES = ['sdk.ts', 'sdk-testing.ts', 'launcher-main.ts', 'jq-builtin-main.ts'];

/** Where the programs lie: every room may know that. */
const OWN_CODE = 'own-code.ts';

/**
 * The rooms that may import a package: mostly one, so that the package can be replaced there. None: it is imported in
 * packages only.
 */
const ADAPTERS: Readonly<Record<string, readonly string[]>> = {
  '@addon-operator/jq': ['operator', 'hook-runs', 'events'],
  '@addon-operator/kube-sandbox': ['cli', 'devkit'],
  '@addon-operator/process': [
    'cli',
    'app',
    'leader',
    'operator',
    'hook-runs',
    'modules',
    'releases',
    'authorization',
    'hooks',
  ],
  '@addon-operator/crypto': ['cli', 'webhooks', 'artifacts', 'authorization'],
  '@addon-operator/crontab': ['tools', 'views', 'reconcile', 'hook-runs'],
  '@addon-operator/task-queue': [
    'devkit',
    'app',
    'operator',
    'requests',
    'views',
    'reconcile',
    'hook-runs',
    'queues',
    'model',
  ],
  '@addon-operator/helm': ['devkit', 'app', 'plan', 'tools', 'operator', 'model', 'extensions', 'releases'],
  '@addon-operator/value-schemas': ['tools', 'modules', 'values'],
  '@addon-operator/http-server': ['cli', 'webhooks', 'leader', 'ui', 'server'],
  '@addon-operator/tracing': ['app'],
  '@addon-operator/script-threads': ['extensions', 'hooks'],
  '@addon-operator/logging': ['cli', 'devkit', 'app', 'server', 'operator', 'hook-runs', 'settings'],
  '@addon-operator/sdk': ['plan', 'tools', 'reconcile', 'hook-runs', 'extensions', 'hooks', 'hook-config'],
  commander: ['cli'],
  '@opentelemetry/api': [],
  '@opentelemetry/exporter-trace-otlp-http': [],
  '@opentelemetry/sdk-trace': [],
  'prom-client': ['metrics'],
  '@addon-operator/oci': ['cli', 'app', 'devkit', 'tools', 'delivery', 'artifacts'],
};

/** Modules without effects, which may be loaded along with a pure file; itself it imports no `node:` module at all. */
const HARMLESS = [
  '@addon-operator/json',
  '@addon-operator/json/pointer',
  '@addon-operator/json/similar-word',
  '@addon-operator/json/unknown-keys',
  '@addon-operator/sdk',
  '@addon-operator/sdk/host',
  'ajv',
  'js-yaml',
  'node:buffer',
  'node:crypto',
  'node:path',
  'node:util',
  'node:zlib',
  're2js',
];

/**
 * The room that a file of src/ belongs to: `main.ts` is of `cli`, `daemon.ts` of `app`, `settings.ts` of `settings`;
 * undefined for entry points, which belong to none.
 */
export function roomOf(file: string): string | undefined {
  if (ENTRIES.includes(file) || file === OWN_CODE) return undefined;
  const first = file.split('/')[0] ?? file;
  if (first === 'main.ts') return 'cli';
  return first === 'daemon.ts' ? 'app' : first.replace(/\.ts$/, '');
}

/** One sentence for each import that breaks the map. */
export function roomViolations(imports: readonly Import[]): string[] {
  return imports.flatMap((one) => {
    const problem = one.isOwn ? ownProblem(one) : adapterProblem(one);
    return problem === undefined ? [] : [`src/${one.from} imports ${one.to}: ${problem}`];
  });
}

function ownProblem({ from, to, isTypeOnly }: Import): string | undefined {
  if (to.startsWith('../')) return 'it is outside of src/';
  const [room, other] = [roomOf(from), roomOf(to)];
  if (to === OWN_CODE) return undefined;
  if (room === undefined || other === undefined) return 'an entry point only leads to a package';
  const index = ROOMS.findIndex(({ name }) => name === room);
  const entry = ROOMS[index];
  const otherIndex = ROOMS.findIndex(({ name }) => name === other);
  if (entry === undefined) return `there is no room ${room}`;
  if (otherIndex === -1) return `there is no room ${other}`;
  if (room === other) return undefined;
  if (otherIndex < index) return 'imports point down the map';
  if (entry.may === '*' || entry.may.includes(other)) return undefined;
  if (entry.mayTypesOf?.includes(other) !== true) return `${room}/ may not import ${other}/`;
  return isTypeOnly ? undefined : `${room}/ may import types only from ${other}/`;
}

function adapterProblem({ from, to }: Import): string | undefined {
  const entry = Object.entries(ADAPTERS).find(([name]) => to === name || to.startsWith(`${name}/`));
  const room = roomOf(from);
  if (entry === undefined || room === undefined || entry[1].includes(room)) return undefined;
  if (entry[1].length === 0) return `${entry[0]} may be imported only in packages/`;
  return `${entry[0]} may be imported only in ${entry[1].map((name) => `${name}/`).join(', ')}`;
}

/** One sentence for each thing with effects that a pure file would load, directly or through other files. */
export function purityViolations(pureFiles: readonly string[], imports: readonly Import[]): string[] {
  return pureFiles.flatMap((file) => {
    const own = imports.filter(({ from, to }) => from === file && to.startsWith('node:')).map(({ to }) => to);
    const loaded = [...loadedBy(file, imports)].filter(
      (name) => !name.endsWith('.ts') && !HARMLESS.includes(name),
    );
    return [...new Set([...own, ...loaded])].map((name) => `src/${file} is pure, but loads ${name}`);
  });
}
