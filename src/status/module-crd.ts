/**
 * The CustomResourceDefinition of Modules. `install-module-crd.ts` writes it at the start, and the chart ships the same. A
 * change here needs a higher `CRD_REVISION`: an operator never replaces a newer definition.
 */

import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import { MAX_HOOK_RUNS } from './module-facts.ts';

export const MODULE_GROUP = 'addon-operator.io';
export const MODULE_API_VERSION = `${MODULE_GROUP}/v1alpha1`;

/** Module objects, as the API server serves them. */
export const MODULE_RESOURCE: ApiResource = {
  group: MODULE_GROUP,
  version: 'v1alpha1',
  kind: 'Module',
  plural: 'modules',
  singular: 'module',
  shortNames: [],
  isNamespaced: false,
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
};

export const MODULE_CRD_NAME = `${MODULE_RESOURCE.plural}.${MODULE_GROUP}`;

/** On the CRD; a definition with a higher number is never replaced by one with a lower number. */
export const CRD_REVISION_ANNOTATION = `${MODULE_GROUP}/crd-revision`;

/** To be raised with every change of {@link MODULE_CRD}. */
export const CRD_REVISION = 5;

const TEXT = { type: 'string' };
const TIME = { type: 'string', format: 'date-time' };
const COUNT = { type: 'integer', format: 'int64' };

const CONDITIONS = {
  type: 'array',
  description:
    'Enabled, Ready, Reconciling, Drifted and Stalled; other controllers may add further conditions.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    properties: {
      type: { ...TEXT, maxLength: 316 },
      status: { ...TEXT, enum: ['True', 'False', 'Unknown'] },
      reason: { ...TEXT, maxLength: 1024 },
      message: { ...TEXT, maxLength: 32768 },
      lastTransitionTime: TIME,
      observedGeneration: COUNT,
    },
  },
};

const STATUS = {
  type: 'object',
  description: 'Status of the module. Written by the operator.',
  // Hooks of a module may report fields of their own.
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    observedGeneration: COUNT,
    operator: { ...TEXT, description: 'Namespace and ConfigMap of the operator that writes this object.' },
    phase: {
      ...TEXT,
      enum: ['Init', 'Progressing', 'Succeeded', 'Failed', 'Deleting'],
      description:
        'Init: it waits to run; Progressing: it is running; Succeeded: it is ready; Failed: the last run failed or was aborted, or something of its own is in the way; Deleting. Absent while the module is disabled.',
    },
    enablement: {
      type: 'object',
      description: 'Whether the module is enabled, the source of this decision, and the reason.',
      properties: { enabled: { type: 'boolean' }, source: TEXT, reason: TEXT },
    },
    version: TEXT,
    description: { ...TEXT, description: 'What module.yaml says about the module.' },
    stage: { ...TEXT, description: 'Stage of the module, such as Preview, by its module.yaml.' },
    release: {
      type: 'object',
      description: 'The Helm release; its digest is computed from the chart and the values.',
      properties: { name: TEXT, revision: COUNT, digest: TEXT },
    },
    lastError: TEXT,
    failedAttempts: { ...COUNT, description: 'Number of consecutive failed attempts.' },
    nextRetry: { ...TIME, description: 'Time of the next attempt, only while this module fails.' },
    lastReconcileTime: { ...TIME, description: 'Start time of the last reconcile that had something to do.' },
    lastRun: {
      type: 'object',
      properties: { startedAt: TIME, durationMs: COUNT, result: { ...TEXT, enum: ['success', 'failure'] } },
    },
    hookRuns: {
      type: 'array',
      maxItems: MAX_HOOK_RUNS,
      description: 'The last run of each binding, most recent bindings only.',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          hook: TEXT,
          binding: TEXT,
          startedAt: TIME,
          durationMs: COUNT,
          result: { ...TEXT, enum: ['success', 'failure'] },
          error: TEXT,
        },
      },
    },
    conditions: CONDITIONS,
  },
};

const column = (name: string, jsonPath: string, type = 'string') => ({ name, type, jsonPath });
const wideColumn = (name: string, jsonPath: string, type = 'string') => ({
  ...column(name, jsonPath, type),
  priority: 1,
});
const condition = (type: string): string => `.status.conditions[?(@.type=="${type}")].status`;

/** The definition of Module objects; the chart of the operator ships the same. */
export const MODULE_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: MODULE_CRD_NAME,
    annotations: { [CRD_REVISION_ANNOTATION]: String(CRD_REVISION) },
  },
  spec: {
    group: MODULE_GROUP,
    scope: 'Cluster',
    names: {
      plural: MODULE_RESOURCE.plural,
      singular: MODULE_RESOURCE.singular,
      kind: MODULE_RESOURCE.kind,
      listKind: 'ModuleList',
    },
    versions: [
      {
        name: MODULE_RESOURCE.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          column('Enabled', condition('Enabled')),
          column('Ready', condition('Ready')),
          column('Phase', '.status.phase'),
          column('Version', '.status.version'),
          column('Revision', '.status.release.revision', 'integer'),
          column('Last Run', '.status.lastReconcileTime', 'date'),
          column('Message', '.status.conditions[?(@.type=="Ready")].message'),
          wideColumn('Stage', '.status.stage'),
          wideColumn('Drifted', condition('Drifted')),
          wideColumn('Next Retry', '.status.nextRetry'),
          wideColumn('Operator', '.status.operator'),
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A module of an addon operator. Created and deleted by the operator.',
            properties: {
              apiVersion: TEXT,
              kind: TEXT,
              metadata: { type: 'object' },
              status: STATUS,
            },
          },
        },
      },
    ],
  },
} as const;
