import { posix } from 'node:path';

export interface Import {
  /** Path of the importing file, relative to src/. */
  readonly from: string;
  /** Path relative to src/ of a file of ours (it begins with `../` outside of src/), else the name of a package or `node:` module. */
  readonly to: string;
  readonly isOwn: boolean;
  readonly isTypeOnly: boolean;
}

/** One import or re-export declaration, or one import() call with a literal. */
const DECLARATION =
  /^\s*(?:import|export)\s+(?<type>type\s)?(?:[^'";]*?\sfrom\s*)?'(?<name>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'\s*\)/gm;

/** All imports of the given files (path relative to src/ → source text). */
export function importsOf(files: ReadonlyMap<string, string>): Import[] {
  return [...files].flatMap(([from, source]) => {
    const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
    return [...code.matchAll(DECLARATION)].map(({ groups }) => {
      const name = groups?.['name'] ?? groups?.['dynamic'] ?? '';
      const isOwn = name.startsWith('.');
      const to = isOwn ? posix.join(posix.dirname(from), name) : name;
      return { from, to, isOwn, isTypeOnly: groups?.['type'] !== undefined };
    });
  });
}

/** Everything that is loaded when `file` is: files of ours and packages, `file` itself left out. */
export function loadedBy(file: string, imports: readonly Import[]): Set<string> {
  const loaded = new Set<string>();
  const visit = (from: string): void => {
    for (const { to, isTypeOnly } of imports.filter((one) => one.from === from)) {
      if (isTypeOnly || loaded.has(to)) continue;
      loaded.add(to);
      visit(to);
    }
  };
  visit(file);
  return loaded;
}

/** Each file of ours that leads back to itself, type imports included, with the first way found. */
export function circles(imports: readonly Import[]): readonly (readonly string[])[] {
  const targets = Map.groupBy(
    imports.filter(({ isOwn }) => isOwn),
    ({ from }) => from,
  );
  const wayBack = (start: string): readonly string[] | undefined => {
    const ways = [[start]];
    const seen = new Set<string>();
    for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
      for (const { to } of targets.get(way.at(-1) ?? '') ?? []) {
        if (to === start) return [...way, to];
        if (!seen.has(to)) ways.push([...way, to]);
        seen.add(to);
      }
    }
    return undefined;
  };
  return [...targets.keys()].flatMap((file) => {
    const way = wayBack(file);
    return way === undefined ? [] : [way];
  });
}
