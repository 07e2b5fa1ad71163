import { isObject } from '@addon-operator/json';
import type { PatchOperation } from '@addon-operator/kube-client/object-patch/patch-operation';
import { headlineOf } from '@addon-operator/strings/headline';
import type { Hook } from '../hooks/hook.ts';

/** The readiness of a module with a probe. */
export type Readiness =
  | { readonly type: 'ready' }
  | { readonly type: 'not-ready'; readonly message: string }
  /** The probe fails because the kind that it reads does not exist in this cluster. */
  | { readonly type: 'unknown'; readonly message: string };

/**
 * The objects to which probes of module-sdk write. The kind belongs to another operator, so the
 * writes are not applied but read.
 */
export const MODULES = { group: 'deckhouse.io', version: 'v1alpha1', kind: 'Module', resource: 'modules' };
const STATUS = /^\/?status$/u;
const CONDITION = 'IsReady';
const READY_PHASE = 'Ready';

export function isProbe({ batch }: Pick<Hook, 'batch'>): boolean {
  return batch?.type === 'readiness';
}

/**
 * Takes the report of a probe out of its patch operations; the others are applied. A probe that
 * still waits reports nothing.
 */
export function takeReadiness(operations: readonly PatchOperation[]): {
  readonly readiness: Readiness | undefined;
  readonly others: readonly PatchOperation[];
} {
  let readiness: Readiness | undefined;
  const others = operations.filter((operation) => {
    if (!isReport(operation)) return true;
    if (operation.operation === 'MergePatch') readiness = readinessIn(operation.mergePatch) ?? readiness;
    return false;
  });
  return { readiness, others };
}

function isReport(operation: PatchOperation): boolean {
  if (!('target' in operation) || !('subresource' in operation)) return false;
  const { target, subresource } = operation;
  const [group] = (target.apiVersion ?? '').split('/');
  const isModule = [MODULES.kind.toLowerCase(), MODULES.resource].includes(target.kind.toLowerCase());
  return group === MODULES.group && isModule && STATUS.test(subresource ?? '');
}

function readinessIn({ status }: Readonly<Record<string, unknown>>): Readiness | undefined {
  if (!isObject(status)) return undefined;
  const conditions = Array.isArray(status['conditions']) ? status['conditions'] : [];
  const condition = conditions.filter(isObject).find(({ type }) => type === CONDITION);
  const message = condition?.['message'];
  const isReady = condition === undefined ? status['phase'] === READY_PHASE : condition['status'] === 'True';
  if (condition === undefined && typeof status['phase'] !== 'string') return undefined;
  return isReady
    ? { type: 'ready' }
    : { type: 'not-ready', message: typeof message === 'string' ? message : '' };
}

/**
 * The readiness after a failed probe. A probe of module-sdk reads an object that other operators
 * keep: where there is no such kind it can only fail, which says nothing about the module.
 */
export function readinessOfFailure(message: string, isKindServed: boolean): Readiness {
  return { type: isKindServed ? 'not-ready' : 'unknown', message };
}

/** A sentence about a module whose probe says that it is not ready; null while it is, or nothing is known. */
export function notReadyText(readiness: Readiness | undefined): string | null {
  if (readiness?.type !== 'not-ready') return null;
  const { message } = readiness;
  return `its readiness probe says that it is not ready${message === '' ? '' : `: ${headlineOf(message)}`}`;
}
