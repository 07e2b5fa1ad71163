/**
 * Builds the registration of one binding. If the rules reach the operator's own ConfigMap, Secret or release records, a
 * match condition excludes them: a broken hook must not stop the operator that could repair it.
 */

import type { AdmissionBinding, AdmissionRule } from '../../hook-config/admission-binding.ts';
import { clientConfigOf, type WebhookTarget } from '../webhook-target.ts';
import { webhookId } from './webhook-id.ts';

/** One item of `webhooks` in a webhook configuration. */
export interface WebhookEntry {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Objects that the daemon itself must always be able to write: otherwise hooks could lock it out. */
export interface OwnState {
  readonly namespace: string;
  readonly configMap: string;
  readonly secret: string;
}

/** Path under which the webhooks of all hooks lie. */
export const HOOKS_PATH = 'hooks';

/** Builds the entry of a binding, as the API server takes it. */
export function webhookEntry(
  binding: AdmissionBinding,
  {
    target,
    ca,
    ownState,
  }: { readonly target: WebhookTarget; readonly ca: string; readonly ownState: OwnState },
): WebhookEntry {
  const { rules = [], objectSelector, namespaceSelector } = binding;
  const matchConditions = [
    ...(binding.matchConditions ?? []),
    ...(rules.some(reachesOwnState) ? [exceptOwnState(ownState)] : []),
  ];
  return {
    name: binding.name,
    ...(binding.rules === undefined ? {} : { rules }),
    ...(matchConditions.length === 0 ? {} : { matchConditions }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    failurePolicy: binding.failurePolicy,
    sideEffects: binding.sideEffects,
    timeoutSeconds: binding.timeoutSeconds,
    matchPolicy: 'Equivalent',
    admissionReviewVersions: ['v1', 'v1beta1'],
    clientConfig: clientConfigOf(target, `/${HOOKS_PATH}/${webhookId(binding.name)}`, ca),
  };
}

/** Whether a broken hook would stop nearly every write to the cluster. */
export function stopsEverything({ failurePolicy, rules = [] }: AdmissionBinding): boolean {
  const isForAll = ({ apiGroups, resources }: AdmissionRule): boolean =>
    apiGroups.includes('*') && (resources.includes('*') || resources.includes('*/*'));
  return failurePolicy === 'Fail' && rules.some(isForAll);
}

function reachesOwnState({ apiGroups, resources }: AdmissionRule): boolean {
  const isCore = apiGroups.includes('') || apiGroups.includes('*');
  return isCore && resources.some((name) => ['*', '*/*', 'configmaps', 'secrets'].includes(name));
}

/** Helm's records of releases are Secrets (or ConfigMaps) with this prefix. */
const RELEASE_PREFIX = 'sh.helm.release.v1.';

function exceptOwnState({ namespace, configMap, secret }: OwnState) {
  const name = 'request.name';
  const isOurs = `request.resource.resource == 'configmaps' && ${name} == '${configMap}' || request.resource.resource == 'secrets' && ${name} == '${secret}' || ${name}.startsWith('${RELEASE_PREFIX}')`;
  return {
    name: 'not-the-state-of-addon-operator',
    expression: `!(request.resource.group == '' && has(request.namespace) && request.namespace == '${namespace}' && has(request.name) && (${isOurs}))`,
  };
}
