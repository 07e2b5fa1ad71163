// Brings a CustomResourceDefinition of the program itself into the cluster. An annotation with a number says which
// of two definitions is newer.

import { fieldsOf } from '@addon-operator/json';
import { CRD_API_VERSION } from './crd.ts';
import { hasStatus, type KubeClient } from './kube-client.ts';

const COLLECTION = `/apis/${CRD_API_VERSION}/customresourcedefinitions`;

/** A definition whose annotation has a number that grows with each change. */
export interface NumberedCrd {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: unknown;
}

/** `created`: it was missing. `unchanged`: it is there, or this account may not read it and leaves it to others. */
export type InstalledCrd = 'created' | 'replaced' | 'unchanged';

/**
 * Creates the definition, or replaces an older one. A newer one, of another version of the program, stays.
 *
 * @param revisionAnnotation name of the annotation with the number
 * @throws KubeApiError when it is missing or old and may not be written; OperatorError KUBE_UNREACHABLE
 */
export async function installCrd(
  kube: KubeClient,
  crd: NumberedCrd,
  revisionAnnotation: string,
  signal: AbortSignal,
): Promise<InstalledCrd> {
  const path = `${COLLECTION}/${crd.metadata.name}`;
  try {
    const current = await readOrNone(kube, path, signal);
    if (current === 'forbidden') return 'unchanged';
    if (current === undefined) {
      await kube.request({ method: 'POST', path: COLLECTION, body: crd }, signal);
      return 'created';
    }
    const metadata = fieldsOf(current['metadata']);
    const annotations = fieldsOf(metadata['annotations']);
    const { annotations: wanted } = crd.metadata;
    if (Number(annotations[revisionAnnotation] ?? 0) >= Number(wanted[revisionAnnotation]))
      return 'unchanged';
    const body = {
      ...current,
      metadata: { ...metadata, annotations: { ...annotations, ...wanted } },
      spec: crd.spec,
    };
    await kube.request({ method: 'PUT', path, body }, signal);
    return 'replaced';
  } catch (error) {
    // Another process was faster with the same.
    if (hasStatus(error, 409)) return 'replaced';
    throw error;
  }
}

async function readOrNone(
  kube: KubeClient,
  path: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | 'forbidden' | undefined> {
  try {
    return fieldsOf(await kube.request({ method: 'GET', path }, signal));
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    if (hasStatus(error, 403)) return 'forbidden';
    throw error;
  }
}
