import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Directories of the modules that the API server is built from, by the start of the names of their schemas. */
const MODULES = {
  'io.k8s.api.': 'api',
  'io.k8s.apimachinery.pkg.': 'apimachinery',
  'io.k8s.apiextensions-apiserver.pkg.': 'apiextensions-apiserver',
};

/**
 * The Go files with the types of the given schemas, by the prefix of their names, from the cache of Go modules.
 *
 * @param version of Kubernetes, such as `1.34.2`
 */
export function goSources(version: string, schemaNames: readonly string[]): Readonly<Record<string, string>> {
  const root = join(process.env['GOMODCACHE'] ?? join(homedir(), 'go/pkg/mod'), 'k8s.io');
  const prefixes = new Set(schemaNames.map((name) => name.split('.').slice(0, -1).join('.')));
  const sources: Record<string, string> = {};
  for (const prefix of prefixes) {
    const [start, module] = Object.entries(MODULES).find(([each]) => prefix.startsWith(each)) ?? [];
    if (start === undefined || module === undefined) continue;
    const inModule = prefix.slice(start.length).split('.').join('/');
    const directory = join(
      root,
      `${module}@v${version.replace(/^1/, '0')}`,
      module === 'api' ? '' : 'pkg',
      inModule,
    );
    const files = ['types.go', 'types_jsonschema.go'].map((file) => join(directory, file));
    sources[prefix] = files
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
  }
  return sources;
}
