import { dumpYaml } from '@addon-operator/yaml';
import { type DiffLine, lineDiff } from '../plan/line-diff.ts';

/** An object of a Kubernetes API. */
export interface ChangedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** One change as an API reports it. */
export interface ReportedChange {
  readonly type: 'added' | 'modified' | 'removed';
  readonly object: ChangedObject;
  readonly previous: ChangedObject | undefined;
}

/** The net result of several changes of one object. */
export interface NetChange {
  readonly change: 'created' | 'changed' | 'deleted';
  /** `ConfigMap shop/pending`. */
  readonly object: string;
  /** Its last state. */
  readonly changed: ChangedObject;
  readonly lines: readonly DiffLine[];
}

/** Fields of metadata that the API server sets. */
const SERVER_FIELDS = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
];

/** The changes between the first and the last state of each object, in the order in which they first changed. */
export function netChanges(changes: readonly ReportedChange[]): readonly NetChange[] {
  const ends = new Map<string, { readonly before: ReportedChange; readonly after: ReportedChange }>();
  for (const change of changes) {
    const { apiVersion } = change.object;
    const key = `${apiVersion} ${titleOf(change.object)}`;
    ends.set(key, { before: ends.get(key)?.before ?? change, after: change });
  }
  return [...ends.values()].flatMap(({ before, after }) => {
    const previous = before.previous;
    const object = after.type === 'removed' ? undefined : after.object;
    const lines = lineDiff(yamlOf(previous), yamlOf(object));
    if (lines.length === 0) return [];
    const change = previous === undefined ? 'created' : object === undefined ? 'deleted' : 'changed';
    return [{ change, object: titleOf(after.object), changed: after.object, lines }];
  });
}

function titleOf({ kind, metadata: { name, namespace } }: ChangedObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

function yamlOf(object: ChangedObject | undefined): string {
  if (object === undefined) return '';
  const metadata = Object.fromEntries(
    Object.entries(object.metadata).filter(([field]) => !SERVER_FIELDS.includes(field)),
  );
  return dumpYaml({ ...object, metadata }, 2);
}
