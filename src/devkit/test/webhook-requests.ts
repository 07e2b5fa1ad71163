import { randomUUID } from 'node:crypto';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { stringOf } from '@addon-operator/json';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import { type ApiResource, apiVersionOf } from '@addon-operator/kube-client/kube-object';
import type { NewObject } from '@addon-operator/kube-client/object-patch/patch-operation';
import type { AdmissionBinding, AdmissionRule } from '../../hook-config/admission-binding.ts';
import type { HookEffects } from '../../hook-runs/apply-outputs.ts';
import type { HookExecution } from '../../hook-runs/hook-execution.ts';
import type { WebhookReason } from '../../hooks/binding-context.ts';
import { title } from '../../hooks/hook.ts';
import type { AdmissionResponse } from '../../hooks/webhook-responses.ts';
import type { HookRuntime } from '../../model/hook-runtime.ts';
import { hookTask } from '../../model/tasks.ts';
import type {
  AdmissionFacts,
  AdmissionStep,
  ConversionFacts,
  ConvertStep,
} from '../../tools/hook-test/hook-test.ts';
import { convertObjects } from '../../webhooks/conversion/convert-objects.ts';
import type { CaseTools } from './case-tools.ts';

export interface WebhookParts {
  readonly hook: HookRuntime;
  readonly execution: Pick<HookExecution, 'run'>;
  readonly discovery: Pick<Discovery, 'find'>;
  readonly tools: Pick<CaseTools, 'readObjects' | 'patched'>;
  readonly stop: AbortSignal;
}

const USER = 'kubernetes-admin';
const GROUPS = ['system:masters', 'system:authenticated'];
/** Requests never wait in a queue. */
const NO_QUEUE = '';

/**
 * Runs the hook for an admission request, and returns what the API server would make of the response.
 *
 * @throws OperatorError CONFIG_INVALID when the API server would not send such a request to the binding
 */
export async function requestAdmission(parts: WebhookParts, step: AdmissionStep): Promise<AdmissionFacts> {
  const { hook, tools } = parts;
  const binding = bindingOf(hook, step.binding);
  const { operation = 'CREATE', subResource = '' } = step;
  const [object, oldObject] = [await one(tools, step.object), await one(tools, step.oldObject)];
  const shown = object ?? oldObject;
  if (shown === undefined)
    throw new OperatorError('CONFIG_INVALID', 'admission: object is missing; for DELETE give oldObject');
  const resource = await parts.discovery.find(shown.apiVersion, shown.kind, parts.stop);
  checkRules(binding, resource, { operation, subResource });
  const request = reviewOf(step, { operation, object, oldObject, shown }, resource);
  const reason = { type: 'admission', binding, review: { request } } as const;
  const effects = await run(parts, reason).catch((error: unknown) => {
    parts.stop.throwIfAborted();
    return messageOf(error);
  });
  // What the API server is sent of a failure does not say what failed.
  if (typeof effects === 'string') return denied(`Hook failed: ${title(hook.hook)}`);
  if (effects.admission === undefined) return denied(`${title(hook.hook)} wrote no response`);
  return factsOf(effects.admission, object, tools);
}

function denied(message: string): AdmissionFacts {
  return { isAllowed: false, message, warnings: [], patched: undefined };
}

function factsOf(
  { isAllowed, message, warnings, patch }: AdmissionResponse,
  object: NewObject | undefined,
  { patched }: WebhookParts['tools'],
): AdmissionFacts {
  if (!isAllowed || patch === '')
    return { isAllowed, message, warnings, patched: isAllowed ? object : undefined };
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) as readonly unknown[];
  try {
    return { isAllowed, message, warnings, patched: patched(object, operations) };
  } catch (error) {
    throw new OperatorError(
      'CONFIG_INVALID',
      `the API server could not apply the patch of the response: ${messageOf(error)}: ${JSON.stringify(operations)}`,
      { cause: error },
    );
  }
}

function bindingOf({ hook }: HookRuntime, name: string): AdmissionBinding {
  const bindings = hook.config.admission;
  const found = bindings.find((binding) => binding.name === name);
  if (found !== undefined) return found;
  const names = bindings.map((binding) => binding.name);
  throw new OperatorError(
    'CONFIG_INVALID',
    `admission: the hook has no validating or mutating binding '${name}'${didYouMean(name, names)}; it has ${names.join(', ') || 'none'}`,
  );
}

interface Asked {
  readonly operation: string;
  readonly subResource: string;
}

function checkRules({ name, rules = [] }: AdmissionBinding, resource: ApiResource, asked: Asked): void {
  if (rules.some((rule) => matches(rule, resource, asked))) return;
  const { operation, subResource } = asked;
  const what = `${resource.plural}${subResource === '' ? '' : `/${subResource}`}`;
  throw new OperatorError(
    'CONFIG_INVALID',
    `admission: the API server does not call ${name} for ${operation} of ${what} in ${apiVersionOf(resource)}: its rules are ${JSON.stringify(rules)}`,
  );
}

function matches(rule: AdmissionRule, resource: ApiResource, { operation, subResource }: Asked): boolean {
  const has = (list: readonly string[], item: string): boolean => list.includes('*') || list.includes(item);
  const { plural, isNamespaced } = resource;
  const names =
    subResource === ''
      ? [plural, '*', '*/*']
      : [`${plural}/${subResource}`, `${plural}/*`, `*/${subResource}`, '*/*'];
  const { scope = '*' } = rule;
  return (
    has(rule.operations, operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    names.some((name) => rule.resources.includes(name)) &&
    (scope === '*' || (scope === 'Namespaced') === isNamespaced)
  );
}

interface ReviewedObjects {
  readonly operation: string;
  readonly object: NewObject | undefined;
  readonly oldObject: NewObject | undefined;
  readonly shown: NewObject;
}

function reviewOf(
  { subResource, dryRun = false, user = USER }: AdmissionStep,
  {
    operation,
    object = null,
    oldObject = null,
    shown,
  }: Omit<ReviewedObjects, 'object' | 'oldObject'> & {
    readonly object?: NewObject | null | undefined;
    readonly oldObject?: NewObject | null | undefined;
  },
  { group, version, kind, plural, isNamespaced }: ApiResource,
): object {
  const { name, namespace = 'default' } = shown.metadata;
  const [gvk, gvr] = [
    { group, version, kind },
    { group, version, resource: plural },
  ];
  return {
    uid: randomUUID(),
    kind: gvk,
    resource: gvr,
    requestKind: gvk,
    requestResource: gvr,
    ...(subResource !== undefined && { subResource, requestSubResource: subResource }),
    ...(stringOf(name) !== '' && { name }),
    ...(isNamespaced && { namespace }),
    operation,
    userInfo: { username: user, groups: GROUPS },
    object,
    oldObject,
    dryRun,
    options: null,
  };
}

async function one(
  { readObjects }: WebhookParts['tools'],
  given: AdmissionStep['object'],
): Promise<NewObject | undefined> {
  if (given === undefined) return undefined;
  const [object, ...others] = await readObjects(given);
  if (object === undefined || others.length > 0)
    throw new OperatorError('CONFIG_INVALID', 'admission: there must be one object in the file');
  return object;
}

/**
 * Runs the hook for each version in between, as for a request of the API server.
 *
 * @throws OperatorError CONFIG_INVALID when the hook converts no such CRD
 */
export async function requestConversion(
  parts: WebhookParts,
  { crd, to, objects }: ConvertStep,
): Promise<ConversionFacts> {
  const { hook, tools, stop } = parts;
  const bindings = hook.hook.config.conversion;
  const names = [...new Set(bindings.map(({ crdName }) => crdName))];
  const crdName = crd ?? (names.length === 1 ? names[0] : undefined);
  if (crdName === undefined || !names.includes(crdName))
    throw new OperatorError(
      'CONFIG_INVALID',
      crd === undefined && names.length > 1
        ? `convert: the hook converts several CRDs: choose one with crd: ${names.join(', ')}`
        : `convert: the hook does not convert ${crd ?? 'anything'}${crd === undefined ? '' : didYouMean(crd, names)}; it converts ${names.join(', ') || 'none'}`,
    );
  const steps = bindings
    .filter((binding) => binding.crdName === crdName)
    .flatMap((binding) =>
      binding.conversions.map((rule) => ({
        ...rule,
        hook: title(hook.hook),
        run: async (review: unknown) =>
          (await run(parts, { type: 'conversion', binding, rule, review })).conversion,
      })),
    );
  const request = { uid: randomUUID(), desiredAPIVersion: to, objects: await tools.readObjects(objects) };
  const result = await convertObjects({ crdName, request, steps, log: silentLogger }, stop);
  return result.type === 'success' ? { objects: result.objects } : { message: result.message };
}

async function run({ hook, execution, stop }: WebhookParts, reason: WebhookReason): Promise<HookEffects> {
  // No rate limit: the clock does not go on while a request is waited for.
  const [binding, reasons] = [reason.binding.type, [reason]];
  const task = hookTask({ hook, binding, reasons, allowFailure: false, trigger: 'test', activation: '' });
  return await execution.run(task, NO_QUEUE, silentLogger, stop);
}
