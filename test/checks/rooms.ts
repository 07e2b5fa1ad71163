import { type Import, loadedBy } from './import-graph.ts';

interface Room {
  readonly name: string;
  /** Rooms it may import besides `lib`; `*` means every room after it in the table. */
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
  { name: 'server', may: ['status', 'metrics'], mayTypesOf: ['settings', 'journal'] },
  { name: 'operator', may: '*' },
  { name: 'extensions', may: ['modules', 'hooks', 'values'] },
  { name: 'status', may: ['modules'], mayTypesOf: ['journal'] },
  { name: 'journal', may: [] },
  { name: 'events', may: [], mayTypesOf: ['hooks'] },
  { name: 'modules', may: ['hooks', 'values'] },
  { name: 'hooks', may: ['values'], mayTypesOf: ['metrics'] },
  { name: 'values', may: [] },
  { name: 'metrics', may: [] },
  { name: 'settings', may: [] },
  { name: 'sdk', may: [] },
  { name: 'lib', may: [] },
];

/**
 * The rooms that may import a package: mostly one, so that the package can be replaced there. None: it is imported in
 * packages only.
 */
const ADAPTERS: Readonly<Record<string, readonly string[]>> = {
  '@addon-operator/jq': ['app', 'operator', 'events', 'lib'],
  '@addon-operator/kube-client': [
    'cli',
    'app',
    'devkit',
    'plan',
    'webhooks',
    'leader',
    'operator',
    'extensions',
    'status',
    'events',
    'modules',
    'hooks',
    'values',
  ],
  '@addon-operator/kube-sandbox': ['cli'],
  '@addon-operator/process': ['cli', 'app', 'leader', 'operator', 'modules', 'hooks', 'jq', 'lib'],
  '@addon-operator/yaml': ['cli', 'app', 'devkit', 'plan', 'operator', 'modules', 'values'],
  '@addon-operator/crypto': ['cli', 'webhooks'],
  '@addon-operator/crontab': ['operator', 'events'],
  '@addon-operator/task-queue': ['app', 'devkit', 'operator'],
  '@addon-operator/metrics': ['cli', 'app', 'devkit', 'server', 'operator', 'hooks', 'metrics'],
  '@addon-operator/hook-config': [
    'cli',
    'devkit',
    'plan',
    'webhooks',
    'operator',
    'events',
    'modules',
    'hooks',
  ],
  '@addon-operator/module-authorization': ['cli', 'operator', 'extensions', 'modules'],
  '@addon-operator/helm': ['app', 'devkit', 'plan', 'operator', 'extensions'],
  '@addon-operator/helm-releases': ['app', 'plan', 'operator', 'extensions', 'modules'],
  '@addon-operator/value-schemas': ['devkit', 'modules', 'values'],
  '@addon-operator/module-lint': ['cli', 'devkit'],
  '@addon-operator/doctor': ['cli', 'devkit'],
  '@addon-operator/hook-recordings': ['cli', 'app', 'devkit', 'server', 'operator', 'hooks'],
  '@addon-operator/scaffold': ['cli'],
  '@addon-operator/hook-test': ['cli', 'devkit'],
  '@addon-operator/http-server': ['cli', 'webhooks', 'leader', 'ui', 'server'],
  '@addon-operator/tracing': ['app'],
  '@addon-operator/pinned-tools': ['cli', 'app'],
  '@addon-operator/script-threads': ['extensions', 'hooks'],
  '@addon-operator/logging': ['cli', 'app', 'devkit', 'server', 'operator', 'settings'],
  '@addon-operator/sdk': ['hooks', 'extensions', 'operator', 'plan', 'sdk'],
  commander: ['cli'],
  '@opentelemetry/api': [],
  '@opentelemetry/exporter-trace-otlp-http': [],
  '@opentelemetry/sdk-trace': [],
  'prom-client': ['metrics'],
};

/** Modules without effects, which may be loaded along with a pure file; itself it imports no `node:` module at all. */
const HARMLESS = [
  '@addon-operator/json',
  '@addon-operator/json/pointer',
  '@addon-operator/json/similar-word',
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

/** The room a file of src/ belongs to: `main.ts` is of `cli`, `daemon.ts` of `app`, `settings.ts` of `settings`. */
export function roomOf(file: string): string {
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
  const index = ROOMS.findIndex(({ name }) => name === room);
  const entry = ROOMS[index];
  const otherIndex = ROOMS.findIndex(({ name }) => name === other);
  if (entry === undefined) return `there is no room ${room}`;
  if (otherIndex === -1) return `there is no room ${other}`;
  if (room === other || (other === 'lib' && index < otherIndex)) return undefined;
  if (otherIndex < index) return 'imports point down the map';
  if (entry.may === '*' || entry.may.includes(other)) return undefined;
  if (entry.mayTypesOf?.includes(other) !== true) return `${room}/ may not import ${other}/`;
  return isTypeOnly ? undefined : `${room}/ may import types only from ${other}/`;
}

function adapterProblem({ from, to }: Import): string | undefined {
  const entry = Object.entries(ADAPTERS).find(([name]) => to === name || to.startsWith(`${name}/`));
  if (entry === undefined || entry[1].includes(roomOf(from))) return undefined;
  if (entry[1].length === 0) return `${entry[0]} may be imported only in packages/`;
  return `${entry[0]} may be imported only in ${entry[1].map((room) => `${room}/`).join(', ')}`;
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
