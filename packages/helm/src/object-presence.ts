import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { fieldsOf } from '@addon-operator/json';
import { ifAllowed, listMetadata } from '@addon-operator/kube-client/kube-client';
import type { ManifestObject } from './manifest-object.ts';
import { collectionPath, type LookupOptions, MAX_READS_AT_ONCE, readMetadata } from './object-lookup.ts';

type Labels = Readonly<Record<string, string>>;

/** Reads by name come from the database at once; a list waits for the server's cache, up to 100 ms. */
const MOST_READ_BY_NAME = 4;

/**
 * The first of `objects`, in their order, that is not in the cluster with all of `labels` on it; undefined when all
 * are there. A kind the server does not know is absent.
 */
export async function firstAbsent(
  objects: readonly ManifestObject[],
  labels: Labels,
  options: LookupOptions,
  signal: AbortSignal,
): Promise<ManifestObject | undefined> {
  const groups = Map.groupBy(objects, (object) =>
    JSON.stringify([object.apiVersion, object.kind, object.namespace]),
  );
  const present = new Set<ManifestObject>();
  const readOne = async (object: ManifestObject): Promise<void> => {
    const metadata = await readMetadata(object, options, signal);
    if (metadata !== undefined && hasLabels(metadata, labels)) present.add(object);
  };
  const readGroup = async (group: readonly ManifestObject[]): Promise<void> => {
    signal.throwIfAborted();
    const [first] = group;
    const path = first === undefined ? undefined : await collectionPath(first, options, signal);
    if (path === undefined) return;
    const list = (): Promise<ReadonlySet<string>> => namesIn(path, labels, options, signal);
    const shared = options.lists?.names(path, list, signal);
    const isSmall = group.length <= MOST_READ_BY_NAME;
    const names = shared === undefined && isSmall ? undefined : await ifAllowed(shared ?? list());
    // What is missing in a list of others may have come since.
    for (const object of group)
      if (names?.has(object.name) === true) present.add(object);
      else if (names === undefined || shared !== undefined) await readOne(object);
  };
  await mapParallel([...groups.values()], MAX_READS_AT_ONCE, readGroup);
  return objects.find((object) => !present.has(object));
}

/** Names of the labelled objects in a collection. */
async function namesIn(
  path: string,
  labels: Labels,
  { kube }: LookupOptions,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const found = await listMetadata(kube, path, labelSelector, signal);
  return new Set(found.map((metadata) => String(metadata['name'])));
}

function hasLabels(metadata: Readonly<Record<string, unknown>>, labels: Labels): boolean {
  const found = fieldsOf(metadata['labels']);
  return Object.entries(labels).every(([key, value]) => found[key] === value);
}
