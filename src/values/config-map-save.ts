/**
 * The write of one section of the ConfigMap: read, change, write, with optimistic locking. `config-map-store.ts` calls it
 * under its lock. A conflict starts again with a fresh read. If the outcome of a write is unknown (no response, or 5xx),
 * the next read decides: content that equals what was sent counts as ours.
 */

import { hasCode, OperatorError } from '@addon-operator/base/errors';
import { canonicalJson, type JsonObject } from '@addon-operator/json';
import { pathBeyond } from '@addon-operator/json/depth';
import {
  type ConfigMapRef,
  MAX_CONFIG_MAP_BYTES,
  parseConfigMap,
  readConfigMap,
  sizeBytes,
  writeConfigMapData,
} from '@addon-operator/kube-client/config-map-object';
import { isOutrun, KubeApiError, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { dumpYaml, MAX_YAML_DEPTH } from '@addon-operator/yaml';
import { parseSection } from './config-map-content.ts';
import type { SectionKey } from './module-key.ts';

/** One section in the cluster after a save. */
interface SavedSection {
  readonly section: JsonObject;
  /** Version of the ConfigMap with the section in it; undefined when nothing had to be written. */
  readonly resourceVersion: string | undefined;
}

/** Enough for a burst of edits by other clients; a client that always writes is reported to the user. */
const MAX_ATTEMPTS = 6;
const INDENT = 4;
const SHOWN_STEPS = 5;

/**
 * Changes one section of the ConfigMap, based on its current content, and keeps all other keys.
 * If another client was faster, or it is not known whether the write arrived, it is read again first.
 *
 * @param change the section as it is (`{}` if absent) to the section as it shall be; what it throws ends the save
 * @param isCreated whether a ConfigMap that does not exist is made
 * @returns undefined when there is no ConfigMap and none is made
 * @throws OperatorError CONFIG_MAP_INVALID when the section cannot be understood, is nested deeper than it can be read, or the ConfigMap would exceed 1 MiB,
 *   CONFIG_MAP_CONFLICT when others were faster six times in a row, KUBE_API or KUBE_UNREACHABLE
 */
export async function saveSection(
  kube: KubeClient,
  ref: ConfigMapRef,
  key: SectionKey,
  change: (section: JsonObject) => JsonObject,
  { isCreated }: { readonly isCreated: boolean },
  signal: AbortSignal,
): Promise<SavedSection | undefined> {
  let unconfirmed: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const current = await readConfigMap(kube, ref, signal);
    if (current === undefined && !isCreated) return undefined;
    // A module may be called as what every object inherits.
    const content = current !== undefined && Object.hasOwn(current.data, key) ? current.data[key] : undefined;
    const section = content === undefined ? {} : parseSection(key, content);
    if (current !== undefined && content !== undefined && content === unconfirmed) {
      return { section, resourceVersion: current.resourceVersion };
    }
    const changed = change(section);
    if (canonicalJson(changed) === canonicalJson(section)) return { section, resourceVersion: undefined };
    checkDepth(key, ref.name, changed);
    const changedText = dumpYaml(changed, INDENT);
    try {
      const data = { ...current?.data, [key]: changedText };
      checkSize(ref.name, data, current?.binaryData ?? {});
      const written = parseConfigMap(await writeConfigMapData(kube, ref, current, data, signal));
      return { section: changed, resourceVersion: written.resourceVersion };
    } catch (error) {
      const isUnknown = isOutcomeUnknown(error);
      if (!isUnknown && !isOutrun(error, current === undefined)) throw error;
      if (attempt === MAX_ATTEMPTS) throw isUnknown ? error : conflict(ref, key, error);
      unconfirmed = isUnknown ? changedText : undefined;
    }
  }
}

function checkDepth(key: SectionKey, name: string, section: JsonObject): void {
  const path = pathBeyond(section, MAX_YAML_DEPTH);
  if (path === undefined) return;
  throw new OperatorError(
    'CONFIG_MAP_INVALID',
    `cannot save '${key}' into ConfigMap '${name}': values are nested deeper than the ${MAX_YAML_DEPTH} levels that can be read again, below ${path.slice(0, SHOWN_STEPS).join('.')}`,
  );
}

function checkSize(
  name: string,
  data: Readonly<Record<string, string>>,
  binaryData: Readonly<Record<string, string>>,
): void {
  const bytes = sizeBytes({ data, binaryData });
  if (bytes <= MAX_CONFIG_MAP_BYTES) return;
  throw new OperatorError(
    'CONFIG_MAP_INVALID',
    `cannot save into ConfigMap '${name}': it would hold ${bytes} bytes, more than the ${MAX_CONFIG_MAP_BYTES} a ConfigMap can hold. ` +
      'Remove unused keys, or let hooks set large values only in memory (VALUES_JSON_PATCH_PATH in place of CONFIG_VALUES_JSON_PATCH_PATH)',
  );
}

/** Whether the server may have carried out the request although it did not confirm it. */
function isOutcomeUnknown(error: unknown): boolean {
  return hasCode(error, 'KUBE_UNREACHABLE') || (error instanceof KubeApiError && error.status >= 500);
}

function conflict(ref: ConfigMapRef, key: SectionKey, cause: unknown): OperatorError {
  return new OperatorError(
    'CONFIG_MAP_CONFLICT',
    `cannot save '${key}' into ConfigMap '${ref.name}': other clients changed it during each of ${MAX_ATTEMPTS} attempts. ` +
      `The run is retried; if this continues, a client writes it all the time: "kubectl get configmap ${ref.name} -n ${ref.namespace} -o yaml --show-managed-fields" names it.`,
    { cause },
  );
}
