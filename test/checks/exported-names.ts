import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './checkout.ts';
import type { Manifest } from './packages.ts';

const DECLARED = /^export (?:abstract )?(?:async )?(?:interface|type|class|function\*?|const) (\w+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;

/** An API server and an interpreter, with the names of their fields: only those that they offer to others count. */
const APART = ['kube-sandbox', 'jq'];

/** Names that several files export, and why. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  'the SDK has the form that authors write, and the operator the parsed one': [
    'AdmissionBinding',
    'AdmissionResponse',
    'BindingContext',
    'ConversionBinding',
    'ConversionResponse',
    'HookConfig',
    'HookMetrics',
    'HookSettings',
    'KeyedQueue',
    'KubernetesBinding',
    'LabelSelector',
    'OutcomeCodes',
    'ScheduleBinding',
  ],
  'words of the small languages in which schemas are written, each with its own result': [
    'count',
    'flag',
    'listOf',
    'number',
    'string',
    'object',
    'text',
    'time',
  ],
};

/** One sentence for each name that several files export, and for each listed name that no longer is one. */
export function namesTwice(sources: ReadonlyMap<string, string>): readonly string[] {
  const files = new Map<string, readonly string[]>();
  for (const [file, source] of sources)
    for (const name of exportsOf(file, source))
      files.set(name, [...new Set([...(files.get(name) ?? []), placeOf(file)])]);
  const shared = Object.values(SHARED).flat();
  return [
    ...[...files].flatMap(([name, places]) =>
      places.length < 2 || shared.includes(name) ? [] : [`${name} is exported by ${places.join(' and ')}`],
    ),
    ...shared
      .filter((name) => (files.get(name) ?? []).length < 2)
      .map((name) => `${name} is listed as a shared name, but no two files export it`),
  ];
}

/** The file, or the package that is apart: its entry points may offer the same thing. */
function placeOf(file: string): string {
  const owner = apartOf(file);
  return owner === undefined ? file : `packages/${owner}`;
}

function apartOf(file: string): string | undefined {
  return APART.find((name) => file.startsWith(`../packages/${name}/`));
}

function exportsOf(file: string, source: string): readonly string[] {
  const declared = Array.from(source.matchAll(DECLARED), ([, name = '']) => name);
  const owner = apartOf(file);
  if (owner === undefined) return [...new Set(declared)];
  if (!entriesOf(owner).includes(file)) return [];
  const listed = Array.from(source.matchAll(LISTED), ([, names = '']) => names.split(',')).flat();
  return [...new Set([...declared, ...listed.map(nameOf).filter((name) => name !== '')])];
}

/** The name under which others see it: of `type A as B` it is B. */
function nameOf(item: string): string {
  return item.trim().split(/\s+/).at(-1) ?? '';
}

function entriesOf(name: string): readonly string[] {
  const manifest = readFileSync(join(projectRoot, 'packages', name, 'package.json'), 'utf8');
  const { exports } = JSON.parse(manifest) as Manifest;
  return Object.values(exports).map((path) => join('../packages', name, path));
}
