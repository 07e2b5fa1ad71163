/**
 * Compares two manifests object by object and renders the result as a diff. Values of Secrets are masked, and so is the
 * old value wherever a known secret has replaced it. It is pure, and shared by plans, comparisons of revisions and `live-changes.ts`.
 */

import { parseManifest } from '@addon-operator/helm/manifest-document';
import { isHook, unfolded } from '@addon-operator/helm/manifest-object';
import { fieldsOf, isObject, type Json } from '@addon-operator/json';
import type { Redactor } from '@addon-operator/masking/redactor';
import { dumpYaml, parseYaml } from '@addon-operator/yaml';
import { type DiffLine, lineDiff } from './line-diff.ts';

export type RawObject = Readonly<Record<string, unknown>>;

/** The change of one object of a release. */
export interface ManifestChange {
  readonly change: 'create' | 'change' | 'delete';
  /** `<apiVersion>/<Kind> <namespace>/<name>`. */
  readonly object: string;
  /** How its manifest differs; empty for an object that goes. */
  readonly lines: readonly DiffLine[];
}

interface Masking {
  /** Knows the secrets of today. */
  readonly redactor: Pick<Redactor, 'text'>;
  /** Whether each text that is replaced or gone may have been a secret, even if it is not known as one now. Default false. */
  readonly masksChanged?: boolean;
}

/**
 * The changes between two manifests of a release, object by object, by title. Hooks of helm are left out. Data of
 * Secrets shows as asterisks; that a value differs shows.
 *
 * @param namespace of objects that name none
 * @param masking of what stood in the place of a secret, for it may be a secret of yesterday
 * @throws OperatorError HELM_FAILED when a manifest is no YAML
 */
export function manifestChanges(
  before: string,
  after: string,
  namespace: string,
  masking?: Masking,
): ManifestChange[] {
  const wanted = objectsByTitle(after, namespace);
  const old = objectsByTitle(before, namespace);
  if (masking !== undefined) {
    const { redactor, masksChanged = false } = masking;
    const options = { redactor, masksChanged, masksGone: masksChanged || redactor.text(after) !== after };
    for (const [title, object] of old) {
      const masked = maskReplaced(object, wanted.get(title), options);
      if (isObject(masked)) old.set(title, masked);
    }
  }
  const titles = [...new Set([...old.keys(), ...wanted.keys()])].toSorted();
  return titles.flatMap((title) => objectChange(title, old.get(title), wanted.get(title)) ?? []);
}

/** The change of one object; undefined when nothing changes. Data of a Secret is masked. */
export function objectChange(
  title: string,
  before: RawObject | undefined,
  after: RawObject | undefined,
): ManifestChange | undefined {
  const [left, right] = masked(before, after);
  if (right === undefined) return { change: 'delete', object: title, lines: [] };
  const lines = lineDiff(left === undefined ? '' : yamlOf(left), yamlOf(right));
  if (lines.length === 0) return undefined;
  return { change: left === undefined ? 'create' : 'change', object: title, lines };
}

/**
 * The objects of a manifest by {@link manifestObjectTitle}, with the scalars that helm reads, `0644` as an octal number for instance;
 * hooks of helm are left out.
 *
 * @param namespace of objects that name none
 * @throws OperatorError HELM_FAILED, VALUES_INVALID when a document is no YAML
 */
export function objectsByTitle(manifest: string, namespace: string): Map<string, RawObject> {
  const options = { source: 'rendered manifest', booleans: 'yaml-1.1' } as const;
  const objects = parseManifest(manifest).flatMap(({ object, text }) => {
    if (object === undefined || isHook(object)) return [];
    const { value } = parseYaml(text, options);
    return isObject(value) ? unfolded(value) : [];
  });
  return new Map(objects.map((object) => [manifestObjectTitle(object, namespace), object]));
}

/** How people find an object: `<apiVersion>/<Kind> <namespace>/<name>`. */
export function manifestObjectTitle({ apiVersion, kind, metadata }: RawObject, namespace: string): string {
  const { name, namespace: own } = fieldsOf(metadata);
  const place = typeof own === 'string' && own !== '' ? own : namespace;
  return `${String(apiVersion)}/${String(kind)} ${place}/${String(name)}`;
}

/** Sorted keys: helm versions and charts differ in the order they write them, which changes nothing. */
function yamlOf(object: RawObject): string {
  return dumpYaml(object as Json, 2);
}

const SECRET_FIELDS = ['data', 'stringData'];
/** Here kubectl keeps a copy of all that was applied. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

function masked(
  before: RawObject | undefined,
  after: RawObject | undefined,
): readonly [RawObject | undefined, RawObject | undefined] {
  if ((after ?? before)?.['kind'] !== 'Secret') return [before, after];
  return [maskedSecret(before, after, 'before'), maskedSecret(after, before, 'after')];
}

/** Masks show whether a value differs: the two sides have different masks then. */
function maskedSecret(
  secret: RawObject | undefined,
  other: RawObject | undefined,
  side: string,
): RawObject | undefined {
  if (secret === undefined) return undefined;
  const fields = SECRET_FIELDS.flatMap((field): [string, unknown][] => {
    const values = secret[field];
    if (!isObject(values)) return [];
    const others = isObject(other?.[field]) ? other[field] : {};
    const mask = ([key, value]: [string, unknown]): [string, string] => [
      key,
      !Object.hasOwn(others, key) || others[key] === value ? '***' : `*** (${side})`,
    ];
    return [[field, Object.fromEntries(Object.entries(values).map(mask))]];
  });
  return { ...withoutLastApplied(secret), ...Object.fromEntries(fields) };
}

function withoutLastApplied(object: RawObject): RawObject {
  const metadata = fieldsOf(object['metadata']);
  const { annotations } = metadata;
  if (!isObject(annotations) || !Object.hasOwn(annotations, LAST_APPLIED)) return object;
  const { [LAST_APPLIED]: _copy, ...others } = annotations;
  return { ...object, metadata: { ...metadata, annotations: others } };
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

/** The names of the two sides of a difference. */
interface SideNames {
  readonly before: string;
  readonly after: string;
}

/**
 * Changes as a unified diff without line numbers, for people and tools that colour diffs.
 *
 * @param sides default: `cluster` and `rendered`
 */
export function changeText(
  changes: readonly ManifestChange[],
  sides: SideNames = { before: 'cluster', after: 'rendered' },
): string {
  return changes
    .map(({ change, object, lines }) => {
      const before = change === 'create' ? '/dev/null' : `${sides.before}/${object}`;
      const after = change === 'delete' ? '/dev/null' : `${sides.after}/${object}`;
      return [`--- ${before}`, `+++ ${after}`, ...lines.map(lineText)].map((line) => `${line}\n`).join('');
    })
    .join('');
}

function lineText(line: DiffLine): string {
  return line.type === 'gap' ? `@@ ${line.lines} equal @@` : `${SIGNS[line.type]}${line.text}`;
}

const MASK = '*** (before)';

interface MaskOptions {
  /** Knows the secrets of today. */
  readonly redactor: Pick<Redactor, 'text'>;
  /** Whether texts that are gone are masked too: they may be a former secret that is elsewhere now. */
  readonly masksGone: boolean;
  /** Whether texts that others replaced are masked too: values that are no secret today may have been one. Default false. */
  readonly masksChanged?: boolean;
}

/**
 * Plain data as it was before a change, with each value masked that differs from one with a secret in the same place:
 * a secret that was replaced is not known any more, and would be shown.
 */
export function maskReplaced(before: unknown, after: unknown, options: MaskOptions): unknown {
  const { redactor, masksChanged = false, masksGone } = options;
  if (typeof after === 'string') {
    if (before === undefined || before === after) return before;
    return masksChanged || redactor.text(after) !== after ? MASK : before;
  }
  if (typeof before === 'string') return masksGone ? MASK : before;
  if (Array.isArray(before)) {
    const items: readonly unknown[] = Array.isArray(after) ? after : [];
    return before.map((item: unknown, index) => {
      // Items move when one is put in before them.
      if (typeof item !== 'string' || !masksGone) return maskReplaced(item, items[index], options);
      return items.includes(item) ? item : MASK;
    });
  }
  if (!isObject(before)) return before;
  const fields = fieldsOf(after);
  return Object.fromEntries(
    Object.entries(before).map(([key, item]) => [key, maskReplaced(item, fields[key], options)]),
  );
}
