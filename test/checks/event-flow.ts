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
    if (file.startsWith('app/')) return [`${file} creates parts, it is not on the way of an event`];
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
