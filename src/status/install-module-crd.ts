import { fieldsOf } from '@addon-operator/json';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { CRD_REVISION, CRD_REVISION_ANNOTATION, MODULE_CRD, MODULE_CRD_NAME } from './module-crd.ts';

const COLLECTION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/**
 * Brings the definition of Modules into the cluster: creates it, or replaces an older one. A newer one, of another
 * operator, stays. An operator without the permission to read it leaves that to others.
 *
 * @returns whether anything was written, so that it takes a moment until Modules are served
 * @throws KubeApiError when it is missing or old and may not be written; OperatorError KUBE_UNREACHABLE
 */
export async function installModuleCrd(kube: KubeClient, signal: AbortSignal): Promise<boolean> {
  const path = `${COLLECTION}/${MODULE_CRD_NAME}`;
  try {
    const current = await readOrNone(kube, path, signal);
    if (current === 'forbidden') return false;
    if (current === undefined) {
      await kube.request({ method: 'POST', path: COLLECTION, body: MODULE_CRD }, signal);
      return true;
    }
    const metadata = fieldsOf(current['metadata']);
    const annotations = fieldsOf(metadata['annotations']);
    if (Number(annotations[CRD_REVISION_ANNOTATION] ?? 0) >= CRD_REVISION) return false;
    const body = {
      ...current,
      metadata: { ...metadata, annotations: { ...annotations, ...MODULE_CRD.metadata.annotations } },
      spec: MODULE_CRD.spec,
    };
    await kube.request({ method: 'PUT', path, body }, signal);
    return true;
  } catch (error) {
    // Another operator was faster with the same.
    if (hasStatus(error, 409)) return true;
    throw error;
  }
}

async function readOrNone(
  kube: KubeClient,
  path: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | 'forbidden' | undefined> {
  try {
    const response = await kube.request({ method: 'GET', path }, signal);
    return fieldsOf(response);
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    if (hasStatus(error, 403)) return 'forbidden';
    throw error;
  }
}
