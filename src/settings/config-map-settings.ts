/**
 * Settings that name the operator among others in the cluster, and settings of its ConfigMap. Namespace and ConfigMap
 * together are the identity of an operator: owned objects, the presence Lease and Module objects refer to it.
 */

import { ownAnd, type Setting, type SettingsOf, setting } from './setting.ts';
import { durationType, listType, textType } from './setting-type.ts';

/** Settings that distinguish this operator from others in the cluster. Objects that it creates for itself are named after both. */
export const INSTANCE_SETTINGS = {
  namespace: setting(
    'namespace',
    ownAnd('NAMESPACE', 'SHELL_OPERATOR_NAMESPACE'),
    textType,
    '',
    'Namespace of the ConfigMap, the helm releases and the lease. Required.',
  ),
  configMapName: setting(
    'config-map',
    'ADDON_OPERATOR_CONFIG_MAP',
    textType,
    'addon-operator',
    'Name of the ConfigMap with values.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type InstanceSettings = SettingsOf<typeof INSTANCE_SETTINGS>;

/** How values are read from the ConfigMap. */
export const CONFIG_MAP_SETTINGS = {
  // See `values/config-map-presence.ts`.
  configMapGraceMs: setting(
    'config-map-grace',
    'ADDON_OPERATOR_CONFIG_MAP_GRACE',
    durationType,
    '10s',
    'How long to wait for a deleted ConfigMap to return before it counts as deleted; its last content stays in use until then. Also applies at start if the ConfigMap existed before. 0: do not wait.',
  ),
  // Off by default: a user who may edit the ConfigMap could otherwise use every Secret that the operator can read.
  secretReferences: setting(
    'secret-references',
    'ADDON_OPERATOR_SECRET_REFERENCES',
    listType(',', 'list'),
    '',
    'Sections of values in which valueFrom.secretKeyRef is replaced by the content of a Secret: names of modules, global, or * for all.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type ConfigMapSettings = SettingsOf<typeof CONFIG_MAP_SETTINGS>;
