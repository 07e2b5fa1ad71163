import type { Import } from './import-graph.ts';

/** Files on the way of an event; the page of the architecture must not list more. */
export const MAX_FLOW_FILES = 35;

/** Interfaces through which one file calls another that it does not import. */
const INTERFACES = [
  '../packages/kube-client/src/kube-client.ts',
  '../packages/kube-client/src/object-patch/patch-operation.ts',
  '../packages/kube-client/src/reflector-sink.ts',
  '../packages/process/src/process-runner.ts',
];

/** A class or function that hides behind one of these interfaces: events may pass it although no file of the list imports it. */
const BEHIND = /(?:implements [^{]*|\): )\b(?:KubeClient|ReflectorSink|ProcessRunner)\b[^;]*\{/;

/** Files that lie between files of the list, or behind its interfaces, and that the event does not pass. */
export const BESIDE: Readonly<Record<string, string>> = {
  '../packages/kube-client/src/observed-client.ts':
    'learns of requests where the client of the list does not',
  '../packages/kube-sandbox/src/memory-client.ts': 'a client of tests of hooks',
  'hooks/http/http-hooks.ts': 'runs hooks that are servers; the list follows a hook that is an executable',
  'operator/deploy-hooks.ts': 'runs hooks of a deploy, which no event causes',
  'operator/daemon-metrics.ts': 'measures queues when metrics are read',
  'operator/execution-parts.ts': 'creates parts',
  'operator/start-hook-tools.ts': 'creates parts',
  'operator/handlers/module-lifecycle.ts': 'runs hooks of the phases of a module run',
  'operator/handlers/module-run.ts': 'handles another type of task',
  'operator/webhook-run.ts': 'runs hooks for requests of the API server',
  'operator/handlers/converge-modules.ts': 'handles another type of task',
  'operator/handlers/global-hook-run.ts':
    'does for a global hook what the listed handler does for a module hook',
  'status/module-object-store.ts': 'keeps Module objects, which hooks do not get from it',
  'webhooks/conversion/crd-conversion.ts': 'reads one CRD',
};

const HEADING = '### The files on this way';

/** The files in the table of the page, in order, relative to src/. */
export function flowFiles(page: string): readonly string[] {
  const section = page.split(HEADING)[1]?.split(/^##/m)[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+\.ts)` \|/gm)].map(([, file = '']) =>
    file.startsWith('packages/') ? `../${file}` : file,
  );
}

/**
 * One sentence for each mistake in the list: a file that does not exist, stands twice or is of `app/`, and one that no
 * file listed before it can call or be called by, directly or through an interface.
 */
export function flowProblems(
  listed: readonly string[],
  files: ReadonlySet<string>,
  imports: readonly Import[],
): readonly string[] {
  const pairs = new Set(imports.map(({ from, to }) => `${from} ${to}`));
  const isNext = (a: string, b: string): boolean =>
    pairs.has(`${a} ${b}`) ||
    pairs.has(`${b} ${a}`) ||
    INTERFACES.some((one) => pairs.has(`${a} ${one}`) && pairs.has(`${b} ${one}`));
  const problems = listed.flatMap((file, index) => {
    if (!files.has(file)) return [`there is no src/${file}`];
    if (createsParts(file)) return [`${file} creates parts, it is not on the way of an event`];
    const before = listed.slice(0, index);
    if (before.includes(file)) return [`${file} is listed twice`];
    if (index > 0 && !before.some((other) => isNext(other, file)))
      return [`${file} has no import in common with the files listed before it`];
    return [];
  });
  if (listed.length > MAX_FLOW_FILES)
    problems.push(`${listed.length} files are listed, at most ${MAX_FLOW_FILES} may be`);
  return problems;
}

/**
 * One sentence for each file that an event may pass and the list lacks, and for each needless entry of {@link BESIDE}. It may
 * pass what a file of the list loads and what loads a file of the list itself, what loads two of them, and what implements
 * one of the interfaces.
 */
export function missingFiles(
  listed: readonly string[],
  sources: ReadonlyMap<string, string>,
  imports: readonly Import[],
  beside: readonly string[] = Object.keys(BESIDE),
): readonly string[] {
  const loads = imports.filter(({ isOwn, isTypeOnly }) => isOwn && !isTypeOnly);
  const loadedByListed = new Set(loads.filter(({ from }) => listed.includes(from)).map(({ to }) => to));
  const loadsListed = Map.groupBy(
    loads.filter(({ to }) => listed.includes(to)),
    ({ from }) => from,
  );
  const isOnTheWay = (file: string): boolean => {
    const next = new Set(loadsListed.get(file)?.map(({ to }) => to)).size;
    return next > 1 || (next > 0 && loadedByListed.has(file)) || BEHIND.test(sources.get(file) ?? '');
  };
  const found = [...sources.keys()].filter(
    (file) => !createsParts(file) && !listed.includes(file) && isOnTheWay(file),
  );
  return [
    ...found
      .filter((file) => !beside.includes(file))
      .map((file) => `${file} is not listed, but lies between listed files or behind an interface of them`),
    ...beside
      .filter((file) => !found.includes(file))
      .map((file) => `${file} need not be named as lying beside the way`),
  ];
}

/** Files of these rooms only put parts together: nothing crosses them later. */
function createsParts(file: string): boolean {
  return file.startsWith('app/') || file.startsWith('devkit/');
}
