import type { KubeObject } from '../../kube/kube-object.ts';
import { createPoint, type Point, type PointHost } from './point.ts';
import { readObject } from './read-result.ts';

const METHOD = 'modifyManifest';

/** Changes an object between rendering and applying. */
export function createManifestModifier(host: PointHost | undefined): Point<KubeObject, KubeObject> {
  const read = (value: unknown, object: KubeObject): KubeObject => readObject(METHOD, value, object);
  return createPoint({ method: METHOD, readInput: read, readResult: read }, host);
}
