import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { OperatorError } from '@addon-operator/base/errors';
import { type ChartSelection, holdsChartFiles, isChartFile, selectChartFiles } from './chart-files.ts';

/** A file of a chart, by its path below the chart directory, `/` between the parts. */
export interface ChartFile {
  readonly path: string;
  readonly content: Buffer;
}

/**
 * How a module directory is a chart: `chart` has a `Chart.yaml` and is used as it is, `templates` has only `templates/`
 * and gets a Chart.yaml in a copy.
 */
export type ChartKind = 'chart' | 'templates';

/** The part of a module's directory that is its chart. */
export interface ChartContents {
  readonly kind: ChartKind;
  readonly selection: ChartSelection;
}

/** The directory of a chart. */
export interface ChartDirectory {
  readonly path: string;
  /**
   * `values.yaml` as the operator has read it: helm gets this one, and none where there was none, so that a file that is
   * being edited or broken changes nothing before the operator has read it. Without it the file counts as it is.
   */
  readonly loadedValues?: { readonly text: string | undefined };
}

const VALUES_FILE = 'values.yaml';

/** Never part of a chart that is made from `templates/`, at any depth. */
const NOT_IN_CHART = new Set(['crds', 'docs', 'hooks', 'images', 'lib']);
const STAGED_VERSION = '0.2.0';

/** Whether and how the module directory is a chart. */
export function chartKind(modulePath: string): ChartKind | undefined {
  if (existsSync(join(modulePath, 'Chart.yaml'))) return 'chart';
  return existsSync(join(modulePath, 'templates')) ? 'templates' : undefined;
}

/** Where templates are; packed charts are among them. */
const TEMPLATES: ChartSelection = { type: 'paths', paths: [] };
const IS_TEMPLATE = /^(?:templates|charts)\//;

/**
 * Finds out what of a module's directory is its chart, by what its templates read, and reads that. What nothing reads may be
 * large: it is neither read nor given to helm.
 *
 * @throws OperatorError MODULE_INVALID as {@link readChartFiles}
 */
export function readChart(
  module: ChartDirectory,
  kind: ChartKind,
  values: unknown,
): { readonly contents: ChartContents; readonly files: readonly ChartFile[] } {
  const always = readChartFiles(module, { kind, selection: TEMPLATES });
  const templates = always.filter(({ path }) => IS_TEMPLATE.test(path)).map(chartText);
  const contents = { kind, selection: selectChartFiles(templates, values) };
  const hasMore = contents.selection.type === 'all-but' || contents.selection.paths.length > 0;
  return { contents, files: hasMore ? readChartFiles(module, contents) : always };
}

/** A file as text; of a packed chart (`.tgz`) all that is in it. */
export function chartText({ path, content }: ChartFile): string {
  if (!path.endsWith('.tgz')) return content.toString('latin1');
  try {
    return unpackChart(content).toString('latin1');
  } catch {
    // helm reports what is wrong with the archive; until then nothing is known of the chart.
    return '{{ lookup }}';
  }
}

/**
 * Reads every file of the chart, sorted by path; symbolic links are followed. Synchronous: a converge in which nothing
 * has changed consists of little else, and the files are many and small.
 *
 * @throws OperatorError MODULE_INVALID when something cannot be read, or directories link to one another in a circle
 */
export function readChartFiles(module: ChartDirectory, contents: ChartContents): ChartFile[] {
  const { path: modulePath, loadedValues } = module;
  try {
    const files: ChartFile[] = [];
    for (const path of walk(modulePath, '', contents, [])) {
      if (path === VALUES_FILE && loadedValues !== undefined) continue;
      files.push({ path, content: readFileSync(join(modulePath, path)) });
    }
    if (loadedValues?.text !== undefined)
      files.push({ path: VALUES_FILE, content: Buffer.from(loadedValues.text) });
    return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError('MODULE_INVALID', `Cannot read the chart in "${modulePath}"`, { cause });
  }
}

/**
 * The directory to give to helm: the module's own; or a copy of its chart in `targetDir`, where the module has other files
 * too, for a bare `templates/` with a Chart.yaml, and where `values.yaml` is not the one that the operator has read with
 * that one. The module directory is never written to.
 */
export async function stageChart(
  module: ChartDirectory & { readonly name: string },
  contents: ChartContents,
  targetDir: string,
): Promise<string> {
  const { loadedValues } = module;
  const { kind } = contents;
  if (isUsedInPlace(module, contents)) return module.path;
  for (const path of walk(module.path, '', contents, [])) {
    if (path === '.helmignore' && kind === 'templates') continue;
    if (path === VALUES_FILE && loadedValues !== undefined) continue;
    await mkdir(dirname(join(targetDir, path)), { recursive: true });
    await copyFile(join(module.path, path), join(targetDir, path));
  }
  if (loadedValues?.text !== undefined) {
    await mkdir(targetDir, { recursive: true });
    await writeFile(join(targetDir, VALUES_FILE), loadedValues.text, { mode: 0o600 });
  }
  if (kind === 'chart') return targetDir;
  const metadata = { apiVersion: 'v1', name: module.name, version: STAGED_VERSION };
  await writeFile(join(targetDir, 'Chart.yaml'), JSON.stringify(metadata));
  return targetDir;
}

/** Whether {@link stageChart} makes no copy. */
export function isUsedInPlace(module: ChartDirectory, { kind, selection }: ChartContents): boolean {
  if (kind !== 'chart' || !hasLoadedValues(module)) return false;
  return readdirSync(module.path, { withFileTypes: true }).every((entry) =>
    isChartFile(entry.isFile() ? entry.name : `${entry.name}/any`, selection),
  );
}

function hasLoadedValues({ path, loadedValues }: ChartDirectory): boolean {
  if (loadedValues === undefined) return true;
  const file = join(path, VALUES_FILE);
  const found = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return found === loadedValues.text;
}

/** A chart with more than that was hardly deployed with all files of its module. */
const MAX_OTHER_BYTES = 8 * 1024 * 1024;

/**
 * Every file of a module, as {@link readChartFiles}; undefined if they are large, or some cannot be read. Releases whose record has
 * them all have a digest of them all.
 */
export function readAllFiles(module: ChartDirectory, kind: ChartKind): readonly ChartFile[] | undefined {
  const contents: ChartContents = { kind, selection: { type: 'all-but', directories: [] } };
  try {
    let bytes = 0;
    for (const path of walk(module.path, '', contents, [])) bytes += statSync(join(module.path, path)).size;
    return bytes > MAX_OTHER_BYTES ? undefined : readChartFiles(module, contents);
  } catch {
    return undefined;
  }
}

const SHOWN_FILES = 5;

/** The largest files of a chart, the largest first; empty where they cannot be read. */
export function largestFiles(
  { path: root }: ChartDirectory,
  contents: ChartContents,
): readonly { readonly path: string; readonly bytes: number }[] {
  try {
    return [...walk(root, '', contents, [])]
      .map((path) => ({ path, bytes: statSync(join(root, path)).size }))
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, SHOWN_FILES);
  } catch {
    return [];
  }
}

/** @param parents the directories above, as paths below the root */
function* walk(
  root: string,
  below: string,
  contents: ChartContents,
  parents: readonly string[],
): Generator<string> {
  const { kind, selection } = contents;
  for (const found of readdirSync(join(root, below), { withFileTypes: true })) {
    const { name } = found;
    const path = below === '' ? name : `${below}/${name}`;
    // Also a link that leads nowhere is of no concern then.
    if (!holdsChartFiles(path, selection)) continue;
    const isLink = !found.isFile() && !found.isDirectory();
    // Some file systems do not report the types of entries.
    const entry = isLink ? statSync(join(root, path)) : found;
    if (entry.isFile() && isChartFile(path, selection)) yield path;
    else if (entry.isDirectory() && !isLeftOut(name, kind)) {
      const above = [...parents, below];
      if (isLink) refuseCircle(root, path, above);
      yield* walk(root, path, contents, above);
    }
  }
}

/** Only links lead back, so only links are compared with the directories above them. */
function refuseCircle(root: string, path: string, above: readonly string[]): void {
  const directory = realpathSync.native(join(root, path));
  if (!above.some((parent) => realpathSync.native(join(root, parent)) === directory)) return;
  throw new OperatorError(
    'MODULE_INVALID',
    `Cannot read the chart in "${root}": "${path}" links to a directory above it`,
  );
}

function isLeftOut(name: string, kind: ChartKind): boolean {
  return name === '.git' || (kind === 'templates' && NOT_IN_CHART.has(name));
}

/** More than any chart has. */
const MAX_ARCHIVE_BYTES = 32 * 1024 * 1024;

/** The tar archive in a packed chart (`.tgz`). @throws what zlib says when it is damaged or too large */
export function unpackChart(packed: Buffer): Buffer {
  return gunzipSync(packed, { maxOutputLength: MAX_ARCHIVE_BYTES });
}
