import { KINDS } from './built-in-data.ts';
import type { Fields } from './json-access.ts';
import { unpacked } from './packed-json.ts';
import type { ResourceName } from './status-error.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** One column of a custom resource in tables; `jsonPath` starts at the object. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

/** One kind in one version, as it is served. */
export interface ServedKind extends ResourceName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly isCustom: boolean;
  readonly hasStatus: boolean;
  readonly hasScale: boolean;
  readonly verbs: readonly Verb[];
  /** Objects of the kind are questions: created, answered and forgotten. */
  readonly isReview: boolean;
  /** Columns of the table output that a custom resource defines. */
  readonly columns?: readonly PrinterColumn[];
  /** OpenAPI schema of a custom resource. */
  readonly schema?: Fields;
}

/** `v1` or `group/version`. */
export function apiVersionOf(kind: Pick<ServedKind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** Where objects of a kind are kept, the same for all its versions: `group/plural`. */
export function storageOf(kind: ResourceName): string {
  // Events of both groups are the same objects.
  const group = kind.group === 'events.k8s.io' ? '' : kind.group;
  return `${group}/${kind.plural}`;
}

/** Whether objects of the kind are namespaces, which have rules of their own. */
export function isNamespace(kind: Pick<ServedKind, 'group' | 'kind'>): boolean {
  return kind.group === '' && kind.kind === 'Namespace';
}

/** A kind as the data of the package describe it. */
type KindRow = Pick<
  ServedKind,
  | 'group'
  | 'version'
  | 'kind'
  | 'plural'
  | 'singular'
  | 'shortNames'
  | 'categories'
  | 'isNamespaced'
  | 'verbs'
> & { readonly subresources: readonly string[] };

function servedKind({ subresources, ...row }: KindRow): ServedKind {
  return {
    ...row,
    listKind: `${row.kind}List`,
    isCustom: false,
    hasStatus: subresources.includes('status'),
    hasScale: subresources.includes('scale'),
    isReview: !row.verbs.includes('get'),
  };
}

/** Every built-in kind that the sandbox serves, in the order of discovery. */
export const BUILT_IN_KINDS: readonly ServedKind[] = (unpacked(KINDS) as readonly KindRow[]).map(servedKind);
