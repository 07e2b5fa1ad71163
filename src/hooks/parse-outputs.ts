import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { parsePatchOperations } from '@addon-operator/kube-client/object-patch/parse-operations';
import type { PatchOperation as ObjectOperation } from '@addon-operator/kube-client/object-patch/patch-operation';
import { type MetricOperation, parseMetricOperations } from '@addon-operator/metrics/metric-operation';
import type { HookOutputTexts } from '@addon-operator/sdk/host';
import { type FlagPatch, splitGlobalPatch } from '../values/enabled-patches.ts';
import { parseValuesPatch } from '../values/values-patch.ts';
import type { HookPatches } from '../values/values-store.ts';
import { type Hook, title, valuesOwnerOf } from './hook.ts';
import {
  type AdmissionResponse,
  type ConversionResponse,
  parseAdmissionResponse,
  parseConversionResponse,
} from './webhook-responses.ts';

/** What a hook wants done, understood but not yet applied. */
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
export function parseOutputs(outputs: HookOutputTexts, hook: Hook, log: Logger): ParsedOutputs {
  const owner = valuesOwnerOf(hook);
  const config = parse(hook, 'json patch for config values', () =>
    parseValuesPatch(outputs.configValuesPatch, 'config values', owner),
  );
  const values = parse(hook, 'json patch for values', () =>
    parseValuesPatch(outputs.valuesPatch, 'values', owner),
  );
  const metrics = parse(hook, 'metrics', () => parseMetricOperations(outputs.metrics));
  for (const warning of metrics.warnings) log.warn({ reason: warning }, 'metric operation is skipped');
  const objectOperations = parse(hook, 'kubernetes patch', () =>
    parsePatchOperations(outputs.kubernetesPatch),
  );
  const admission = parse(hook, 'validating response', () =>
    parseAdmissionResponse(outputs.admissionResponse),
  );
  const conversion = parse(hook, 'conversion response', () =>
    parseConversionResponse(outputs.conversionResponse),
  );
  const effects = { metrics: metrics.operations, objectOperations, admission, conversion };
  if (hook.owner.type === 'module') return { patches: { config, values }, flags: [], ...effects };
  const split = parse(hook, 'json patch for values', () => ({
    config: splitGlobalPatch(config),
    values: splitGlobalPatch(values),
  }));
  for (const { op, path } of [...split.config.ignored, ...split.values.ignored])
    log.warn({ op, path }, 'Unknown patch operation');
  return {
    patches: { config: split.config.values, values: split.values.values },
    flags: [...split.config.flags, ...split.values.flags],
    ...effects,
  };
}

function parse<T>(hook: Hook, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new OperatorError(
      'HOOK_OUTPUT_INVALID',
      `${title(hook)} wrote bad ${what}, so no output of this run is applied: ${messageOf(cause)}`,
      { cause },
    );
  }
}
