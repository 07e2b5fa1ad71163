import { fieldsOf } from '../lib/json.ts';
import { mapParallel } from '../lib/map-parallel.ts';
import type { ManifestObject } from './manifest-object.ts';
import { type LookupOptions, MAX_READS_AT_ONCE, readMetadata } from './object-lookup.ts';

export interface ForeignObject {
  readonly object: ManifestObject;
  /** The release it belongs to, as `namespace/name`. */
  readonly owner: string;
}

const NAME_ANNOTATION = 'meta.helm.sh/release-name';
const NAMESPACE_ANNOTATION = 'meta.helm.sh/release-namespace';

/**
 * Those of `objects` that exist and are annotated as another release's. Objects without helm's annotations belong to
 * nobody and may be adopted.
 */
export async function foreignObjects(
  objects: readonly ManifestObject[],
  release: string,
  options: LookupOptions,
  signal: AbortSignal,
): Promise<readonly ForeignObject[]> {
  const found = await mapParallel(
    objects,
    MAX_READS_AT_ONCE,
    async (object): Promise<ForeignObject | undefined> => {
      const metadata = await readMetadata(object, options, signal);
      const owner = otherOwner(metadata ?? {}, release, options.namespace);
      return owner === undefined ? undefined : { object, owner };
    },
  );
  return found.filter((foreign) => foreign !== undefined);
}

function otherOwner(
  metadata: Readonly<Record<string, unknown>>,
  release: string,
  namespace: string,
): string | undefined {
  const annotations = fieldsOf(metadata['annotations']);
  const name = annotations[NAME_ANNOTATION];
  if (typeof name !== 'string' || name === '') return undefined;
  const written = annotations[NAMESPACE_ANNOTATION];
  const ownerNamespace = typeof written === 'string' ? written : namespace;
  const isOurs = name === release && ownerNamespace === namespace;
  return isOurs ? undefined : `${ownerNamespace}/${name}`;
}
