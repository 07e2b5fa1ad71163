/* Maps paths to pages and back. It is pure: `site.ts` connects it with the browser. */

/** Pages of the navigation besides the first one; each has its name as its address. */
export const LISTS = ['queues', 'modules', 'runs', 'timeline', 'next', 'graph', 'about', 'docs'] as const;

/** A page with what it shows. */
export type Place =
  | { readonly page: 'now' | (typeof LISTS)[number] }
  | { readonly page: 'queue'; readonly name: string }
  | { readonly page: 'module'; readonly name: string; readonly tab: ModuleTab }
  | { readonly page: 'run'; readonly id: string }
  | { readonly page: 'unknown' };

export const MODULE_TABS = ['why', 'runs', 'objects', 'changes', 'values', 'hooks'] as const;
export type ModuleTab = (typeof MODULE_TABS)[number];

/** The page at a path below the base, such as `modules/web/why`. */
export function placeOf(path: string): Place {
  const parts = path.split('/').filter((part) => part !== '');
  const [list, part, tab = 'why', ...more] = parts;
  const name = part === undefined ? undefined : decoded(part);
  if (list === undefined) return { page: 'now' };
  const known = LISTS.find((each) => each === list);
  if (known === undefined || more.length > 0) return { page: 'unknown' };
  if (name === undefined) return { page: known };
  if (known === 'modules') {
    const moduleTab = MODULE_TABS.find((each) => each === tab);
    return moduleTab === undefined ? { page: 'unknown' } : { page: 'module', name, tab: moduleTab };
  }
  if (parts.length > 2) return { page: 'unknown' };
  if (known === 'queues') return { page: 'queue', name };
  if (known === 'runs') return { page: 'run', id: name };
  return { page: 'unknown' };
}

/** A malformed escape is shown as it is, instead of breaking the page. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A path below the base from its parts, with a query of what is not empty. */
export function pathTo(parts: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const path = parts.map(encodeURIComponent).join('/');
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  return filled.length === 0 ? path : `${path}?${new URLSearchParams(filled)}`;
}

/** The page that a `ref` of a condition or a wait points to, such as `module/db` or `queue/main`; undefined for a file. */
export function pathToRef(ref: string): string | undefined {
  const [, kind, name = ''] = /^(module|queue|hook)\/(.+)$/s.exec(ref) ?? [];
  if (kind === 'module') return pathTo(['modules', name]);
  if (kind === 'queue') return pathTo(['queues', name]);
  if (kind !== 'hook') return undefined;
  // Names of global hooks have no module in front, and no `hooks/` that follows it.
  const [, module = '', hook = name] = /^([^/]+)\/((?:web)?hooks\/.+)$/s.exec(name) ?? [];
  return pathTo(['runs'], { module, hook });
}

/** For the tab of the browser. */
export function titleOfPlace(place: Place): string {
  if (place.page === 'queue') return `Queue ${place.name}`;
  if (place.page === 'module') return place.name;
  if (place.page === 'run') return `Run ${place.id}`;
  if (place.page === 'unknown') return 'No such page';
  return place.page.charAt(0).toUpperCase() + place.page.slice(1);
}
