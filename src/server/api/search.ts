/**
 * `/api/v1/search`: everything that has the words of a query in its name, and sections of the documentation. Names come
 * first: exact ones, then those that begin with the query, then the others, in the order of the kinds.
 */

import { startOf } from '../../status/cut-text.ts';
import type { DaemonView } from '../../status/daemon-view.ts';
import { indexDocs, readDocs } from '../read-docs.ts';
import { type DocsSearch, type DocsSection, sectionsOf } from '../search-docs.ts';
import { list, object, oneOf, type ResponseSchema, string } from './schema-parts.ts';

export const SEARCH_KINDS = ['module', 'hook', 'queue', 'run', 'object', 'page'] as const;

/** One thing that was found. */
export interface SearchResult {
  readonly kind: (typeof SEARCH_KINDS)[number];
  /** Its name, the id of a run, or the heading of a section. */
  readonly name: string;
  /** The module it belongs to; empty for none. */
  readonly module: string;
  /** The file below docs/; empty for other kinds. */
  readonly page: string;
  /** The state, the error or the beginning of the section; may be empty. */
  readonly text: string;
}

const MAX_OF_KIND = 12;
const MAX_TEXT = 160;
/** Errors of older runs are not searched. */
const SEARCHED_RUNS = 500;

/**
 * What has all words of the query.
 *
 * @param hooks names of hooks, with `<module>/` in front of those of modules
 * @param docs sections of the documentation that match, the best first
 */
export async function searchResults(
  view: Pick<DaemonView, 'modules' | 'globalHooks' | 'taskQueues' | 'journal' | 'monitoredResources'>,
  query: string,
  { hooks, docs }: { readonly hooks: readonly string[]; readonly docs: readonly DocsSection[] },
  signal: AbortSignal,
): Promise<readonly SearchResult[]> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const named = [
    view.modules().map(({ module, status }) => found('module', module, { text: status })),
    hooksOf(view, hooks),
    view.taskQueues(0).map(({ name, length }) => found('queue', name, { text: `${length} tasks` })),
    Object.entries(await view.monitoredResources(signal)).flatMap(([module, objects = []]) =>
      objects.map((object) => found('object', object, { module })),
    ),
  ].map((results) => ranked(results, words));
  const [modules = [], namedHooks = [], queues = [], objects = []] = named;
  return [
    ...modules,
    ...namedHooks,
    ...queues,
    ...runsOf(view, words),
    ...objects,
    ...docs.map(({ page, heading, text }) => found('page', heading, { page, text })),
  ];
}

/** Names of global hooks may contain slashes too. */
function hooksOf(
  { globalHooks }: Pick<DaemonView, 'globalHooks'>,
  names: readonly string[],
): readonly SearchResult[] {
  const global = new Set(globalHooks());
  return names.map((name) => {
    const module = global.has(name) ? '' : name.slice(0, Math.max(0, name.indexOf('/')));
    return found('hook', module === '' ? name : name.slice(module.length + 1), { module });
  });
}

/** A run by its id, or the id of its event or trace, and runs whose error has the words. */
function runsOf({ journal }: Pick<DaemonView, 'journal'>, words: readonly string[]): readonly SearchResult[] {
  return journal
    .list({ limit: SEARCHED_RUNS })
    .runs.filter(({ id, eventId, traceId, error }) => {
      const [word = ''] = words;
      const isNamed = words.length === 1 && [id, eventId.toLowerCase(), traceId].includes(word);
      return isNamed || (error !== '' && hasWords(error, words));
    })
    .slice(0, MAX_OF_KIND)
    .map(({ id, module, hook, type, error }) =>
      found('run', id, { module, text: error === '' ? hook || type : error }),
    );
}

function found(
  kind: SearchResult['kind'],
  name: string,
  { module = '', page = '', text = '' }: Partial<SearchResult>,
): SearchResult {
  return { kind, name, module, page, text: startOf(text, MAX_TEXT) };
}

/** Those that have all words in their names or in the name of their module, the best first. */
function ranked(results: readonly SearchResult[], words: readonly string[]): readonly SearchResult[] {
  const query = words.join(' ');
  const rank = ({ name }: SearchResult): number => {
    const lower = name.toLowerCase();
    if (lower === query) return 0;
    return lower.startsWith(query) ? 1 : 2;
  };
  return results
    .filter(({ name, module }) => hasWords(`${module}/${name}`, words))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, MAX_OF_KIND);
}

function hasWords(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

/** The index of the documentation. It is dropped when memory is needed, because few people search. */
export class DocsIndex {
  #index: WeakRef<DocsSearch> | undefined;

  /** The best sections. Without readable files: none. */
  async search(query: string): Promise<readonly DocsSection[]> {
    const known = this.#index?.deref();
    if (known !== undefined) return known.search(query);
    const index = await indexDocs().catch(() => undefined);
    if (index === undefined) return [];
    this.#index = new WeakRef(index);
    return index.search(query);
  }
}

/** One page of the documentation, section by section; undefined for an unknown page. */
export async function docsPage(
  page: string,
): Promise<{ page: string; sections: readonly DocsSection[] } | undefined> {
  const [, text] = (await readDocs()).find(([name]) => name === page) ?? [];
  return text === undefined ? undefined : { page, sections: sectionsOf(page, text) };
}

/** `/search` */
export const SEARCH_SCHEMA: ResponseSchema = object({
  results: list(
    object({
      kind: oneOf(SEARCH_KINDS, 'What it is; page: a section of the documentation.'),
      name: string('Its name, the id of a run, or the heading of a section.'),
      module: string('The module it belongs to; empty for none.'),
      page: string('The file below docs/; empty for other kinds.'),
      text: string('The state, the error or the beginning of the section; may be empty.'),
    }),
    'The best first, at most twelve of a kind.',
  ),
});

/** `/docs` */
export const DOCS_SCHEMA: ResponseSchema = object({
  page: string('The file below docs/.'),
  sections: list(
    object({
      page: string('The file.'),
      heading: string('Its heading; the name of the file for what comes before the first one.'),
      text: string('Markdown.'),
    }),
    'In the order of the page.',
  ),
});
