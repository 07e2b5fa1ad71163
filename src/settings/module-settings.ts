/** Settings of modules: what enables them, their order, the effect of failures, Module objects, and CRDs. */

import { type Setting, type SettingsOf, setting } from './setting.ts';
import { booleanType, labelsWith, listType, wordType } from './setting-type.ts';

/** Settings of which modules run, and how they affect each other. */
export const MODULE_SETTINGS = {
  appliedModuleExtenders: setting(
    'applied-module-extenders',
    'ADDON_OPERATOR_APPLIED_MODULE_EXTENDERS',
    listType(',', 'list'),
    'Static,DynamicallyEnabled,KubeConfig,ScriptEnabled',
    'Sources that may enable or disable modules, in order of increasing precedence.',
  ),
  runsModulesInParallel: setting(
    'parallel-modules',
    'ADDON_OPERATOR_PARALLEL_MODULES',
    booleanType,
    'false',
    'Run modules with equal order numbers at the same time, unless one requires another.',
  ),
  moduleFailurePolicy: setting(
    'module-failure-policy',
    'ADDON_OPERATOR_MODULE_FAILURE_POLICY',
    wordType(['block', 'isolate']),
    'block',
    'What a failing module blocks: block (all modules behind it), isolate (only modules that require it).',
  ),
  keepsModuleObjects: setting(
    'module-objects',
    'ADDON_OPERATOR_MODULE_OBJECTS',
    booleanType,
    'true',
    'Show the status of each module in an object of kind Module, and record Events for it.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type ModuleSettings = SettingsOf<typeof MODULE_SETTINGS>;

/** Settings of CustomResourceDefinitions of modules. The labels are also set on all objects of releases. */
export const CRD_SETTINGS = {
  crdExtraLabels: setting(
    'crd-extra-labels',
    'ADDON_OPERATOR_CRD_EXTRA_LABELS',
    labelsWith({ heritage: 'addon-operator' }),
    'heritage=addon-operator',
    'Labels of all objects and CRDs of modules; heritage=addon-operator is added unless heritage is set.',
  ),
  crdFilterPrefixes: setting(
    'crd-filters',
    'ADDON_OPERATOR_CRD_FILTER_PREFIXES',
    listType(',', 'list'),
    'doc-,_',
    'Prefixes of the names of CRD files that are ignored.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type CrdSettings = SettingsOf<typeof CRD_SETTINGS>;
