import type { Fields } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';

const ALL = ['*'];

const ANSWERS: Readonly<Record<string, Fields>> = {
  LocalSubjectAccessReview: { allowed: true },
  SelfSubjectAccessReview: { allowed: true },
  SubjectAccessReview: { allowed: true },
  SelfSubjectRulesReview: {
    resourceRules: [{ verbs: ALL, apiGroups: ALL, resources: ALL }],
    nonResourceRules: [{ verbs: ALL, nonResourceURLs: ALL }],
    incomplete: false,
  },
  SelfSubjectReview: {
    userInfo: { username: 'sandbox', groups: ['system:masters', 'system:authenticated'] },
  },
};

/** The response to a review: every user may do everything. */
export function responseReview(kind: ServedKind, review: ResourceObject): Fields {
  const { name: _name, ...metadata } = review.metadata;
  return { ...review, metadata, status: ANSWERS[kind.kind] ?? {} };
}
