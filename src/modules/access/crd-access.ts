import type { Access } from './policy-rules.ts';

const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

/** What the operator needs to bring the CRDs of a module into the cluster and to wait until they are served. */
export const CRD_ACCESS: readonly Access[] = [
  { ...DEFINITIONS, verbs: ['get', 'list', 'watch', 'create', 'update'] },
  { ...DEFINITIONS, resource: `${DEFINITIONS.resource}/status`, verbs: ['update'] },
];
