/**
 * Parses the output files of a hook before any effect of the run: values patches, operations on objects, metrics, webhook
 * responses. It is all or nothing, so a mistake in one file cannot leave half a run applied. The parsers are generators:
 * `hook-runs/` runs their steps between other work, because outputs may have many MB.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { finish, type Steps } from '@addon-operator/concurrency/steps';
import { patchOperationSteps } from '@addon-operator/kube-client/object-patch/parse-operations';
import type { PatchOperation as ObjectOperation } from '@addon-operator/kube-client/object-patch/patch-operation';
import type { HookOutputContents } from '@addon-operator/sdk/host';
import { type MetricOperation, metricOperationSteps } from '../metrics/metric-operation.ts';
import { type FlagPatch, splitGlobalPatch } from '../values/enabled-patches.ts';
import { valuesPatchSteps } from '../values/values-patch.ts';
import type { HookPatches } from '../values/values-store.ts';
import { type Hook, title, valuesOwnerOf } from './hook.ts';
import {
  type AdmissionResponse,
  type ConversionResponse,
  parseAdmissionResponse,
  parseConversionResponse,
} from './webhook-responses.ts';

/** The parsed outputs of a hook, not yet applied. */
export interface ParsedOutputs {
  readonly patches: HookPatches;
  /** Flags of modules that a global hook sets. */
  readonly flags: readonly FlagPatch[];
  readonly metrics: readonly MetricOperation[];
  readonly objectOperations: readonly ObjectOperation[];
  /** Undefined where the hook wrote no response to an admission request. */
  readonly admission: AdmissionResponse | undefined;
  /** Undefined where the hook wrote no response to a conversion. */
  readonly conversion: ConversionResponse | undefined;
}

/**
 * Parses everything a hook wrote, before any of it is applied: patches of values, operations on objects, metrics, responses.
 *
 * @throws OperatorError HOOK_OUTPUT_INVALID naming the file and what is wrong in it; nothing of the run may be applied
 */
export function parseOutputs(outputs: HookOutputContents, hook: Hook, log: Logger): ParsedOutputs {
  return finish(outputSteps(outputs, hook, log));
}

/** The steps of {@link parseOutputs}: outputs may have many MB. */
export function* outputSteps(outputs: HookOutputContents, hook: Hook, log: Logger): Steps<ParsedOutputs> {
  const owner = valuesOwnerOf(hook);
  const config = yield* parse(
    hook,
    'json patch for config values',
    valuesPatchSteps(outputs.configValuesPatch, 'config values', owner),
  );
  yield;
  const values = yield* parse(
    hook,
    'json patch for values',
    valuesPatchSteps(outputs.valuesPatch, 'values', owner),
  );
  yield;
  const metrics = yield* parse(hook, 'metrics', metricOperationSteps(outputs.metrics));
  for (const warning of metrics.warnings) log.warn({ reason: warning }, 'metric operation is skipped');
  const objectOperations = yield* parse(
    hook,
    'kubernetes patch',
    patchOperationSteps(outputs.kubernetesPatch),
  );
  yield;
  const admission = yield* parse(
    hook,
    'validating response',
    atOnce(() => parseAdmissionResponse(outputs.admissionResponse)),
  );
  const conversion = yield* parse(
    hook,
    'conversion response',
    atOnce(() => parseConversionResponse(outputs.conversionResponse)),
  );
  const effects = { metrics: metrics.operations, objectOperations, admission, conversion };
  if (hook.owner.type === 'module') return { patches: { config, values }, flags: [], ...effects };
  const split = yield* parse(
    hook,
    'json patch for values',
    atOnce(() => ({ config: splitGlobalPatch(config), values: splitGlobalPatch(values) })),
  );
  for (const { op, path } of [...split.config.ignored, ...split.values.ignored])
    log.warn({ op, path }, 'Unknown patch operation');
  return {
    patches: { config: split.config.values, values: split.values.values },
    flags: [...split.config.flags, ...split.values.flags],
    ...effects,
  };
}

function* atOnce<T>(read: () => T): Steps<T> {
  yield;
  return read();
}

function* parse<T>(hook: Hook, what: string, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (cause) {
    throw new OperatorError(
      'HOOK_OUTPUT_INVALID',
      `${title(hook)} wrote bad ${what}, so no output of this run is applied: ${messageOf(cause)}`,
      { cause },
    );
  }
}
