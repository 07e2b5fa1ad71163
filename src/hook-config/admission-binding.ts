/**
 * The admission bindings: schema, checks and conversion in one place. The checks repeat the rules of the API server with
 * its wording, because a refused webhook configuration would otherwise show only when the hook is enabled.
 */

import {
  given,
  labelSelectorProblems,
  type SnapshotSource,
  type SnapshotUser,
  snapshotPositions,
  snapshotProblems,
} from './binding-checks.ts';
import type { SectionOf } from './binding-kinds.ts';
import {
  choice,
  includeSnapshotsFrom,
  labelSelector,
  listOf,
  object,
  string,
  text,
} from './config-schema-parts.ts';
import type { LabelSelector } from './kubernetes-binding.ts';

/** The admission bindings of a hook. */
export type AdmissionType = SectionOf<'admission'>;

/** A CEL expression with its name. */
interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** An item of `kubernetesValidating` or `kubernetesMutating`, with all defaults filled in. */
export interface AdmissionBinding {
  readonly type: AdmissionType;
  readonly name: string;
  readonly rules?: readonly AdmissionRule[];
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly sideEffects: 'None' | 'NoneOnDryRun';
  readonly timeoutSeconds: number;
  readonly matchConditions?: readonly MatchCondition[];
  readonly objectSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  /** Only selects snapshots: the context keeps its type. */
  readonly group?: string;
  /** Positions of the kubernetes bindings whose snapshots go into the context. */
  readonly snapshotsFrom: readonly number[];
}

/** An item as the schema guarantees it. */
export interface RawAdmission extends SnapshotUser {
  readonly name: string;
  readonly rules?: readonly AdmissionRule[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly sideEffects?: 'None' | 'NoneOnDryRun';
  readonly timeoutSeconds?: number;
  readonly matchConditions?: readonly MatchCondition[];
  readonly labelSelector?: LabelSelector;
  readonly namespace?: { readonly labelSelector: LabelSelector };
}

/** Default and limit of the API server. */
const DEFAULT_TIMEOUT_SECONDS = 10;
const MAX_TIMEOUT_SECONDS = 30;
const MIN_NAME_SEGMENTS = 3;
/** A DNS name; the API server requires at least three segments. */
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The schema of a rule, as in a webhook configuration. */
const rule = object(
  'One kind of requests.',
  {
    apiGroups: listOf('API groups; "" is the core group, "*" means all.', string),
    apiVersions: listOf('API versions; "*" means all.', string),
    resources: listOf('Plural names of resources, such as pods or pods/status; "*" means all.', string),
    operations: listOf(
      'Operations on the object; "*" means all.',
      choice('An operation.', ['CREATE', 'UPDATE', 'DELETE', 'CONNECT', '*']),
    ),
    scope: choice('Whether objects with or without a namespace are meant; default all.', [
      'Cluster',
      'Namespaced',
      '*',
    ]),
  },
  ['apiGroups', 'apiVersions', 'resources', 'operations'],
);

/** The schema of a binding; both kinds have the same fields. */
const item = object(
  'One webhook.',
  {
    name: text('Name of the webhook: a domain with at least three segments, such as policy.example.com.'),
    rules: listOf('The requests that the hook is called for.', rule),
    failurePolicy: {
      ...choice('What happens to a request when the hook does not respond in time.', ['Ignore', 'Fail']),
      default: 'Fail',
    },
    sideEffects: {
      ...choice('Whether the hook has side effects; NoneOnDryRun: it has, but not for dry runs.', [
        'None',
        'NoneOnDryRun',
      ]),
      default: 'None',
    },
    timeoutSeconds: {
      type: 'integer',
      description: 'How long the API server waits for the response, 1 to 30 seconds.',
      default: DEFAULT_TIMEOUT_SECONDS,
    },
    matchConditions: {
      type: 'array',
      description: 'CEL expressions that must all be true for the hook to be called for a request.',
      items: object(
        'One condition.',
        { name: text('Name of the condition.'), expression: text('A CEL expression.') },
        ['name', 'expression'],
      ),
    },
    labelSelector,
    namespace: object('Selects requests by the labels of their namespace.', { labelSelector }, [
      'labelSelector',
    ]),
    group: text('Adds the snapshots of all kubernetes bindings with this group to the binding context.'),
    includeSnapshotsFrom,
  },
  ['name'],
);

export const validatingSchema = listOf('Run to allow or deny requests to the API server.', item);
export const mutatingSchema = listOf('Run to change objects on their way to the API server.', item);

/**
 * Problems that the schema cannot detect. Mutating items are checked less: the API server refuses the rest.
 *
 * @param place position of the item, and the names of the items before it
 */
export function* admissionProblems(
  type: AdmissionType,
  raw: RawAdmission,
  { index, others }: { readonly index: number; readonly others: readonly string[] },
  kubernetes: readonly SnapshotSource[],
): Iterable<string> {
  yield* snapshotProblems(raw, kubernetes);
  yield* labelSelectorProblems(raw.labelSelector);
  yield* labelSelectorProblems(raw.namespace?.labelSelector);
  if (type === 'kubernetesMutating') return;
  const path = `webhooks[${index}]`;
  if (!DOMAIN.test(raw.name) || raw.name.split('.').length < MIN_NAME_SEGMENTS)
    yield `${path}.name: Invalid value: "${raw.name}": should be a domain with at least three segments separated by dots`;
  if (others.includes(raw.name)) yield `${path}.name: Duplicate value: "${raw.name}"`;
  const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = raw;
  if (timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS)
    yield `${path}.timeoutSeconds: Invalid value: ${timeoutSeconds}: must be from 1 to ${MAX_TIMEOUT_SECONDS} seconds`;
  for (const [position, each] of (raw.rules ?? []).entries())
    yield* admissionRuleProblems(each, `${path}.rules[${position}]`);
}

/** The binding with all defaults. The item was checked by {@link admissionProblems}. */
export function admissionBinding(
  type: AdmissionType,
  raw: RawAdmission,
  kubernetes: readonly SnapshotSource[],
): AdmissionBinding {
  const { rules, matchConditions, labelSelector: objectSelector, namespace } = raw;
  const group = given(raw.group);
  return {
    type,
    name: raw.name,
    failurePolicy: raw.failurePolicy ?? 'Fail',
    sideEffects: raw.sideEffects ?? 'None',
    timeoutSeconds: raw.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    snapshotsFrom: snapshotPositions(raw, kubernetes),
    ...(rules === undefined ? {} : { rules }),
    ...(matchConditions === undefined ? {} : { matchConditions }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(namespace === undefined ? {} : { namespaceSelector: namespace.labelSelector }),
    ...(group === undefined ? {} : { group }),
  };
}

/** The requests that a webhook is called for, in the form of the API server. */
export interface AdmissionRule {
  readonly apiVersions: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly string[];
  readonly scope?: string;
}

/** Why an API server would refuse a rule of a webhook; each problem begins with the path. */
function* admissionRuleProblems(rule: AdmissionRule, path: string): Iterable<string> {
  for (const field of ['operations', 'apiGroups', 'apiVersions'] as const) {
    const values = rule[field];
    if (values.length > 1 && values.includes('*'))
      yield `${path}.${field}: Invalid value: ${JSON.stringify(values)}: if '*' is present, must not specify other values`;
  }
  for (const field of ['apiVersions', 'resources'] as const) {
    const empty = rule[field].indexOf('');
    if (empty >= 0) yield `${path}.${field}[${empty}]: Required value`;
  }
  yield* overlaps(rule.resources, `${path}.resources`);
}

/** A wildcard makes other entries of the list redundant, which the API server refuses. */
function* overlaps(resources: readonly string[], path: string): Iterable<string> {
  const withAllSubresources = new Set<string>();
  const ofAllResources = new Set<string>();
  for (const [index, text] of resources.entries()) {
    const [resource = '', subresource] = text.split('/', 2);
    if (subresource === undefined) continue;
    if (withAllSubresources.has(resource))
      yield `${path}[${index}]: Invalid value: "${text}": if '${resource}/*' is present, must not specify ${text}`;
    if (ofAllResources.has(subresource))
      yield `${path}[${index}]: Invalid value: "${text}": if '*/${subresource}' is present, must not specify ${text}`;
    if (subresource === '*') withAllSubresources.add(resource);
    if (resource === '*') ofAllResources.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    yield `${path}: Invalid value: if '*/*' is present, must not specify other resources`;
  if (resources.includes('*') && resources.some((text) => text !== '*' && !text.includes('/')))
    yield `${path}: Invalid value: if '*' is present, must not specify other resources without subresources`;
}
