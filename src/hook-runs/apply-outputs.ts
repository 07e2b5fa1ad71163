import { type Span, traced } from '@addon-operator/base/trace';
import type { JsonObject } from '@addon-operator/json';
import type { PatchOperation as ObjectOperation } from '@addon-operator/kube-client/object-patch/patch-operation';
import { valuesOwnerOf } from '../hooks/hook.ts';
import type { ParsedOutputs } from '../hooks/parse-outputs.ts';
import type { AdmissionResponse, ConversionResponse } from '../hooks/webhook-responses.ts';
import type { HookMetrics } from '../metrics/hook-metrics.ts';
import type { DynamicFlags } from '../model/dynamic-flags.ts';
import type { HookRun } from '../model/tasks.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { metricLabels } from './hook-labels.ts';

export interface ApplyParts {
  readonly values: ValuesStore;
  readonly configMap: Pick<ConfigMapStore, 'save'>;
  readonly dynamicFlags: DynamicFlags;
  readonly objectPatcher: {
    apply(operations: readonly ObjectOperation[], signal: AbortSignal, span: Span): Promise<void>;
  };
  readonly hookMetrics: HookMetrics;
  /** Follows the Secrets that the values refer to now. */
  readonly followSecrets: () => Promise<void>;
}

/** The effects of a hook run on the daemon. */
export interface HookEffects {
  /** The merged values of the hook's owner are different now. */
  readonly areValuesChanged: boolean;
  /** A global hook enabled or disabled other modules. */
  readonly areFlagsChanged: boolean;
  /** The hook's response to an admission request; undefined without one. */
  readonly admission: AdmissionResponse | undefined;
  /** The hook's response to a conversion; undefined without one. */
  readonly conversion: ConversionResponse | undefined;
}

export const NO_EFFECTS: HookEffects = {
  areValuesChanged: false,
  areFlagsChanged: false,
  admission: undefined,
  conversion: undefined,
};

/** Checked outputs, with the sizes of the patches if the run is traced. */
export interface Written extends ParsedOutputs {
  readonly bytes: { readonly objects?: number; readonly values?: number };
}

/**
 * Applies checked outputs in this order: metrics, operations on objects, config values (saved in
 * the ConfigMap), values, flags of modules. There is no transaction: after a failure earlier
 * outputs stay applied, and the hook runs again. Its operations have to be idempotent.
 */
export async function applyOutputs(
  parts: ApplyParts,
  run: HookRun,
  parsed: Written,
  span: Span,
  signal: AbortSignal,
): Promise<HookEffects> {
  const { hook } = run.hook;
  const { objectPatcher, hookMetrics, dynamicFlags } = parts;
  hookMetrics.apply(metricLabels(hook), parsed.metrics);
  const { objectOperations, bytes } = parsed;
  if (objectOperations.length > 0)
    await traced(
      span,
      'patch objects',
      { 'addon_operator.operations': objectOperations.length, 'addon_operator.bytes': bytes.objects },
      (own) => objectPatcher.apply(objectOperations, signal, own),
    );
  // Applying objects takes requests: the module may have been deleted in the meantime.
  if (run.hook.isStopped) return NO_EFFECTS;
  const { config, values: patches } = parsed.patches;
  const { admission, conversion } = parsed;
  if (config.length + patches.length === 0)
    return {
      ...NO_EFFECTS,
      areFlagsChanged: dynamicFlags.apply(parsed.flags, hook.name),
      admission,
      conversion,
    };
  const attributes = {
    'addon_operator.operations': config.length + patches.length,
    'addon_operator.bytes': bytes.values,
  };
  return await traced(span, 'patch values', attributes, () => applyValues(parts, run, parsed, signal));
}

/**
 * Saves config values in the ConfigMap, applies value patches and flags, and reports what changed.
 */
async function applyValues(
  parts: ApplyParts,
  run: HookRun,
  parsed: ParsedOutputs,
  signal: AbortSignal,
): Promise<HookEffects> {
  const { hook } = run.hook;
  const { values, configMap, dynamicFlags } = parts;
  const owner = valuesOwnerOf(hook);
  const { admission, conversion } = parsed;
  const { config, values: patches } = parsed.patches;
  // Compared by checksum: a patch that changes nothing must not queue a run.
  const before = values.checksum(owner);
  if (config.length > 0) {
    const check = (section: JsonObject): void => values.checkConfigSection(owner, section);
    values.setConfigSection(owner, await configMap.save(owner, config, check, signal));
    // New references to Secrets have to be read before the values are used.
    await parts.followSecrets();
    if (run.hook.isStopped) return NO_EFFECTS;
  }
  values.applyPatch(owner, patches, hook.name);
  return {
    areValuesChanged: values.checksum(owner) !== before,
    areFlagsChanged: dynamicFlags.apply(parsed.flags, hook.name),
    admission,
    conversion,
  };
}
