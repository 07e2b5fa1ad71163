import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { projectRoot } from '../../checks/checkout.ts';

export interface GitObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

const SAMPLE = /^<!-- sample: ([a-z-]+) -->\n```yaml\n([^]*?)^```$/gm;

/** The samples in YAML of a page, by their names. */
export function yamlSamples(page: string): ReadonlyMap<string, string> {
  const samples = [...readFileSync(join(projectRoot, page), 'utf8').matchAll(SAMPLE)];
  return new Map(samples.map(([, name = '', text = '']) => [name, text]));
}

/** The objects in the samples of a page, by the name of the sample. */
export function objectSamples(page: string): ReadonlyMap<string, readonly GitObject[]> {
  const samples = [...yamlSamples(page)];
  return new Map(samples.map(([name, text]) => [name, loadAll(text) as readonly GitObject[]]));
}

/** Where the API server has objects of a kind. */
export function pathOf({ apiVersion, kind, metadata }: GitObject): string {
  const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${base}${scope}/${plural}/${metadata.name}`;
}
