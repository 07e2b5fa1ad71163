/**
 * Takes objects through chains of hooks to the desired version. Objects of one request may have several versions: each
 * version gets its chain, and every hook sees the whole list, as in the original. The result of each step is checked
 * before the next one gets it.
 */

import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { fieldsOf, stringOf } from '@addon-operator/json';
import type { ConversionRule } from '../../hook-config/conversion-binding.ts';
import type { ConversionResponse } from '../../hooks/webhook-responses.ts';
import { findConversionChain } from './conversion-chain.ts';
import { convertedObjectsProblem } from './converted-objects-problem.ts';

/** The request of the API server; further fields are passed on to hooks unchanged. */
export interface ReviewedConversion {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly unknown[];
  readonly [field: string]: unknown;
}

/** A rule and the hook that follows it. */
export interface ConversionStep extends ConversionRule {
  /** How messages name the hook. */
  readonly hook: string;
  /**
   * Runs the hook; undefined where it returned nothing.
   *
   * @throws OperatorError when the hook fails
   */
  readonly run: (
    review: { readonly request: ReviewedConversion },
    signal: AbortSignal,
  ) => Promise<ConversionResponse | undefined>;
}

export type ConversionResult =
  | { readonly type: 'success'; readonly objects: readonly unknown[] }
  | { readonly type: 'failure'; readonly message: string };

export interface Conversion {
  readonly crdName: string;
  readonly request: ReviewedConversion;
  /** Everything hooks can do for this custom resource definition. */
  readonly steps: readonly ConversionStep[];
  readonly log: Logger;
}

/**
 * Takes the objects through the hooks that lead to the desired version: one chain of hooks for each version that occurs,
 * until all objects are converted. A hook is given all objects, as converted so far.
 *
 * @throws `signal.reason` on abort
 */
export async function convertObjects(conversion: Conversion, signal: AbortSignal): Promise<ConversionResult> {
  const { crdName, request, steps } = conversion;
  const desired = request.desiredAPIVersion;
  let objects = request.objects;
  if (areConverted(objects, desired)) return { type: 'success', objects };
  // The set is made once, of the versions at the beginning; a chain may convert objects of other versions as well.
  for (const source of new Set(objects.map(versionOf))) {
    for (const step of findConversionChain(steps, source, desired) ?? []) {
      const result = await runStep(conversion, step, objects, signal);
      if (result.type === 'failure') return result;
      objects = result.objects;
      if (areConverted(objects, desired)) return result;
    }
  }
  const left = [...new Set(objects.map(versionOf))].filter((version) => version !== desired);
  return failure(
    `Conversion ${crdName} to ${desired} was not successful: no hook converts from ${left.join(', ')}`,
  );
}

async function runStep(
  { request, log }: Conversion,
  step: ConversionStep,
  objects: readonly unknown[],
  signal: AbortSignal,
): Promise<ConversionResult> {
  const desired = request.desiredAPIVersion;
  let response: ConversionResponse | undefined;
  try {
    response = await step.run({ request: { ...request, objects } }, signal);
  } catch (error) {
    signal.throwIfAborted();
    log.error({ ...errorFields(error), hook: step.hook, uid: request.uid }, 'Conversion hook failed');
    return failure(`Hook failed to convert to ${desired}: ${step.hook}`);
  }
  if (response === undefined)
    return failure(
      `handle ConversionReview: hook task prop error: ${step.hook} wrote nothing to $CONVERSION_RESPONSE_PATH`,
    );
  if (response.type === 'failed') return failure(response.message);
  const problem = convertedObjectsProblem(objects, response.objects);
  if (problem !== undefined) return failure(`Hook failed to convert to ${desired}: ${step.hook} ${problem}`);
  return { type: 'success', objects: response.objects };
}

function failure(message: string): ConversionResult {
  return { type: 'failure', message };
}

function areConverted(objects: readonly unknown[], desired: string): boolean {
  return objects.every((object) => versionOf(object) === desired);
}

function versionOf(object: unknown): string {
  return stringOf(fieldsOf(object)['apiVersion']);
}
