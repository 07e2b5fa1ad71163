import type { World } from '../world.ts';

/** What an account may or may not do. */
export interface AccessAttributes {
  readonly verb: string;
  /** The core group if absent. */
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Empty for all. */
  readonly namespace: string;
  /** Empty for all. */
  readonly name: string;
}

/** Whether an account in the namespace of the world may do something, as the API server decides it. */
export async function isAllowed(
  world: World,
  account: string,
  resourceAttributes: AccessAttributes,
): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: `system:serviceaccount:${world.namespace}:${account}`, resourceAttributes },
  };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const { status } = (await world.expect({ method: 'POST', path, body })) as { status: { allowed: boolean } };
  return status.allowed;
}
