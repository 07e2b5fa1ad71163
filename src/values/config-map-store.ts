import type { OperatorError } from '../lib/errors.ts';
import type { JsonObject } from '../lib/json.ts';
import type { ConfigMapContent } from './config-map-content.ts';
import type { ConfigDifference } from './config-map-diff.ts';
import type { ValuesOwner } from './module-key.ts';
import type { PatchOperation } from './values-patch.ts';

/**
 * What the watched ConfigMap came to say.
 *
 * `changed`: valid content that means something else than the last valid one. `invalid`: it cannot be understood; the
 * last valid content stays in force. `valid`: understood again, and it means what the last valid content meant.
 */
export type ConfigChange =
  | { readonly type: 'changed'; readonly content: ConfigMapContent; readonly difference: ConfigDifference }
  | { readonly type: 'invalid'; readonly error: OperatorError }
  | { readonly type: 'valid' };

/** Whether the ConfigMap, as last read, can be understood. */
export type ConfigState =
  | { readonly type: 'valid' }
  | { readonly type: 'invalid'; readonly error: OperatorError };

export interface ConfigMapStore {
  /** The last valid content. */
  readonly content: ConfigMapContent;
  readonly state: ConfigState;
  /**
   * Reads the ConfigMap for the first time. An absent one is empty.
   *
   * @throws OperatorError CONFIG_MAP_INVALID when it cannot be understood, KUBE_API or KUBE_UNREACHABLE when it cannot
   *   be read
   */
  load(signal: AbortSignal): Promise<ConfigMapContent>;
  /**
   * Watches the ConfigMap until the signal aborts, then rejects with its reason. What {@link save} wrote itself is no
   * change.
   */
  watch(onChange: (change: ConfigChange) => void, signal: AbortSignal): Promise<never>;
  /**
   * Applies a hook's patch to the owner's section as it stands in the cluster now, writes it, and returns the section
   * as written (or as it was, when the patch changes nothing). All other keys stay untouched.
   *
   * @throws OperatorError VALUES_PATCH_INVALID when the patch does not apply to the section in the cluster,
   *   CONFIG_MAP_INVALID when that section cannot be understood or would exceed 1 MiB, CONFIG_MAP_CONFLICT when
   *   others keep writing at the same time, KUBE_API or KUBE_UNREACHABLE when the API server refuses or is away
   */
  save(owner: ValuesOwner, operations: readonly PatchOperation[], signal: AbortSignal): Promise<JsonObject>;
}
