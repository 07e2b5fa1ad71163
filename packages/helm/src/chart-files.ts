import { canonicalJson } from '@addon-operator/json';

/**
 * Which entries of a module's directory belong to its chart. Those that helm itself uses always do: `Chart.yaml`, values and
 * their schema, `templates/`, `charts/`. All others are for `.Files` of templates only.
 */
export type ChartSelection =
  /**
   * Files, and directories with all that is in them; `.` are the files beside Chart.yaml, the empty path is everything.
   * `patterns` match at least the files that a pattern without a directory in front matches.
   */
  | { readonly type: 'paths'; readonly paths: readonly string[]; readonly patterns?: readonly RegExp[] }
  /** It is not known which files templates read: all but those in these directories. */
  | { readonly type: 'all-but'; readonly directories: readonly string[] };

/** Entries of a chart that helm itself reads. */
const HELM_ENTRIES: ReadonlySet<string> = new Set([
  '.helmignore',
  'Chart.lock',
  'Chart.yaml',
  'charts',
  'requirements.lock',
  'requirements.yaml',
  'templates',
  'values.schema.json',
  'values.yaml',
]);

/** Files for other parts of the operator, or for builds of images: a template that reads one of them contains its name. */
const NOT_FOR_TEMPLATES = [
  'crds',
  'customizations',
  'docs',
  'hooks',
  'images',
  'openapi',
  'tests',
  'venv',
] as const;

const ACTION = /\{\{[\s\S]*?\}\}/g;
const COMMENT = /^\{\{-?\s*\/\*/;
const FILES = /\bFiles\b/g;
/** A method that reads, with the path as a literal. */
const READ_BY_LITERAL =
  /\.Files\.(?:GetBytes|Get|Lines|Glob)\s+(?:"(?<quoted>(?:\\.|[^"\\])*)"|`(?<raw>[^`]*)`)/g;
/** Characters with a meaning in a pattern. */
const PATTERN = /[*?[\]{}\\]/;

/**
 * Finds out which files the templates of a chart read.
 *
 * @param templates everything that helm renders, packed charts included
 * @param values which templates may evaluate (`tpl`), and which may name files
 */
export function selectChartFiles(templates: readonly string[], values: unknown): ChartSelection {
  const usesTpl = templates.some((text) => /\btpl\b/.test(text));
  const texts = usesTpl ? [...templates, canonicalJson(values)] : templates;
  const actions = texts.flatMap(actionsOf);
  const using = actions.filter((action) => action.includes('Files'));
  if (using.length === 0) return { type: 'paths', paths: [] };
  const reads = using.map((action) => [...action.matchAll(READ_BY_LITERAL)]);
  const isPlain = using.every((action, index) => countOf(action, FILES) === reads[index]?.length);
  // What `tpl` makes of a file may read further files.
  if (isPlain && !usesTpl) return selectRead(reads.flat().map(({ groups = {} }) => pathOf(groups)));
  const named = `${actions.join('\n')}\n${canonicalJson(values)}`;
  return { type: 'all-but', directories: NOT_FOR_TEMPLATES.filter((name) => !isNamed(name, named)) };
}

function selectRead(read: readonly (string | RegExp)[]): ChartSelection {
  const paths = new Set(read.filter((each) => typeof each === 'string'));
  const patterns = read.filter((each) => typeof each !== 'string');
  return { type: 'paths', paths: [...paths], ...(patterns.length > 0 && { patterns }) };
}

/** Whether a file or link at this path below the module's directory belongs to the chart. */
export function isChartFile(path: string, selection: ChartSelection): boolean {
  const [top = ''] = path.split('/', 1);
  if (HELM_ENTRIES.has(top)) return true;
  if (selection.type === 'all-but') return !selection.directories.includes(top);
  const { paths, patterns = [] } = selection;
  return (
    paths.some((read) => isWithin(path, read) || (read === '.' && top === path)) ||
    patterns.some((pattern) => pattern.test(path))
  );
}

/** Whether files in the directory at this path can belong to the chart. */
export function holdsChartFiles(path: string, selection: ChartSelection): boolean {
  if (isChartFile(path, selection)) return true;
  if (selection.type === 'all-but') return false;
  return selection.patterns !== undefined || selection.paths.some((read) => isWithin(read, path));
}

function isWithin(path: string, directory: string): boolean {
  return directory === '' || path === directory || path.startsWith(`${directory}/`);
}

function actionsOf(text: string): readonly string[] {
  return [...text.matchAll(ACTION)].map(([action]) => action).filter((action) => !COMMENT.test(action));
}

function countOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

/** The path that is read, or the directory above the first part of it that is a pattern; without one the pattern. */
function pathOf({ quoted = '', raw }: Readonly<Record<string, string | undefined>>): string | RegExp {
  const path = raw ?? quoted;
  if (!PATTERN.test(path)) return path;
  const parts = path.split('/');
  const fixed = parts.slice(
    0,
    parts.findIndex((part) => PATTERN.test(part)),
  );
  // Only `**` matches a slash.
  if (parts.length === 1 && !/\*\*|[[\]{}\\]/.test(path)) return '.';
  if (fixed.length === 0 && !path.includes('\\')) return widened(path);
  return fixed.join('/');
}

/** Matches everything that the pattern matches, and more: each of its special parts accepts any characters. */
function widened(pattern: string): RegExp {
  const parts = pattern.replace(/\{.*\}/s, '*').split(/\*+|\?|\[[^\]]*\]?/);
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.+^${}()|\]]/g, '\\$&')).join('.*')}$`, 's');
}

/** In a string that is or begins with the name, and is no key of a map. */
function isNamed(directory: string, texts: string): boolean {
  return new RegExp(`["'\`](?:\\./)?${directory}(?:["'\`](?!\\s*:)|[/*])`).test(texts);
}
