import type { ApiResource } from '../kube-object.ts';
import type { ResourceAccess } from '../policy-rules.ts';
import { type PatchOperation, targetOf } from './patch-operation.ts';

/**
 * The access that an operation may need, whatever it finds in the cluster: JQPatch writes only where its result differs, and
 * CreateOrUpdate replaces only what exists, which may be otherwise in the next run. Empty for an object that the server has
 * no path for.
 */
export function accessOfOperation(
  operation: PatchOperation,
  { group, plural, isNamespaced }: Pick<ApiResource, 'group' | 'plural' | 'isNamespaced'>,
): readonly ResourceAccess[] {
  const { namespace, name } = 'object' in operation ? targetOf(operation.object) : operation.target;
  if (isNamespaced !== (namespace !== '')) return [];
  const to = (verbs: readonly string[], subresource?: string): ResourceAccess => ({
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    verbs,
    ...(isNamespaced && { namespace }),
  });
  switch (operation.operation) {
    case 'Create':
    case 'CreateIfNotExists':
      return [to(['create'])];
    case 'CreateOrUpdate':
      // An object whose name the server makes up never exists.
      return [to(name === '' ? ['create'] : ['create', 'get', 'update'])];
    case 'Delete':
      return [to(['delete', 'get'])];
    case 'DeleteInBackground':
    case 'DeleteNonCascading':
      return [to(['delete'])];
    case 'JQPatch':
      return [to(['get']), to(['update'], operation.subresource)];
    case 'MergePatch':
    case 'JSONPatch':
      return [to(['patch'], operation.subresource)];
  }
}
