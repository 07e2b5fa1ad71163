/**
 * The CustomResourceDefinitions of ModuleSource and ModuleInstall. Their specs are made from the shapes that also check
 * documents, so that the API server refuses what the controller would refuse. The chart ships the same; a change needs
 * a higher `DELIVERY_CRD_REVISION`.
 */

import { isObject } from '@addon-operator/json';
import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import { INSTALL_SHAPE, SOURCE_SHAPE } from './spec-shapes.ts';

export const DELIVERY_GROUP = 'addon-operator.io';
export const DELIVERY_API_VERSION = `${DELIVERY_GROUP}/v1alpha1`;
/** To be raised with every change of the definitions. */
const DELIVERY_CRD_REVISION = 1;

/** Bounds of what has none: the API server estimates the cost of CEL rules by them. */
const MAX_LENGTH = 2_048;
const MAX_ITEMS = 32;

const VERBS = ['get', 'list', 'watch', 'patch'];
export const MODULE_SOURCES = clusterResource('ModuleSource');
export const MODULE_INSTALLS = clusterResource('ModuleInstall');

function clusterResource(kind: string): ApiResource {
  const singular = kind.toLowerCase();
  const names = { kind, singular, plural: `${singular}s`, shortNames: [] };
  return { group: DELIVERY_GROUP, version: 'v1alpha1', ...names, isNamespaced: false, verbs: VERBS };
}

const TEXT = { type: 'string' };
const TIME = { type: 'string', format: 'date-time' };
const COUNT = { type: 'integer', format: 'int64' };
const VERSION = { type: 'object', properties: { version: TEXT, digest: TEXT, at: TIME } };

const CONDITIONS = {
  type: 'array',
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

const SOURCE_STATUS = {
  type: 'object',
  description: 'Written by the operator.',
  properties: {
    observedGeneration: COUNT,
    lastSuccess: TIME,
    lastAttempt: TIME,
    modules: { ...COUNT, description: 'Number of ModuleInstalls with this source.' },
    conditions: CONDITIONS,
  },
};

const INSTALL_STATUS = {
  type: 'object',
  description: 'Written by the operator.',
  properties: {
    observedGeneration: COUNT,
    installed: VERSION,
    lastGood: VERSION,
    wanted: VERSION,
    pending: {
      type: 'object',
      description: 'Why the wanted version is not installed.',
      properties: { version: TEXT, digest: TEXT, reason: TEXT, message: TEXT, until: TIME },
    },
    failed: {
      type: 'array',
      description: 'Never tried again without approval.',
      items: { type: 'object', properties: { version: TEXT, digest: TEXT, at: TIME, why: TEXT } },
    },
    history: {
      type: 'array',
      items: {
        type: 'object',
        properties: { version: TEXT, digest: TEXT, at: TIME, outcome: TEXT, reason: TEXT },
      },
    },
    conditions: CONDITIONS,
  },
};

const column = (name: string, jsonPath: string, type = 'string') => ({ name, type, jsonPath });
const condition = (type: string, field = 'status'): string =>
  `.status.conditions[?(@.type=="${type}")].${field}`;
const AGE = column('Age', '.metadata.creationTimestamp', 'date');

export const MODULE_SOURCE_CRD = definitionOf(MODULE_SOURCES, {
  description: 'Where modules come from: a registry, or a directory in the layout of OCI.',
  spec: SOURCE_SHAPE.schema,
  status: SOURCE_STATUS,
  columns: [
    column('URL', '.spec.url'),
    column('Ready', condition('Ready')),
    column('Modules', '.status.modules', 'integer'),
    column('Last Success', '.status.lastSuccess', 'date'),
    column('Message', condition('Ready', 'message')),
    AGE,
  ],
});

export const MODULE_INSTALL_CRD = definitionOf(MODULE_INSTALLS, {
  description: 'A module of a ModuleSource; its name is that of the module.',
  spec: INSTALL_SHAPE.schema,
  status: INSTALL_STATUS,
  columns: [
    column('Source', '.spec.source'),
    column('Version', '.status.installed.version'),
    column('Wanted', '.status.wanted.version'),
    column('Pending', '.status.pending.reason'),
    column('Ready', condition('Ready')),
    column('Message', condition('Ready', 'message')),
    AGE,
  ],
});

interface DefinitionParts {
  readonly description: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
  readonly columns: readonly unknown[];
}

/** A definition as the API server takes it. */
export type DeliveryCrd = ReturnType<typeof definitionOf>;

function definitionOf({ group, version, kind, plural, singular }: ApiResource, parts: DefinitionParts) {
  const { description, spec, status, columns } = parts;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { [`${group}/crd-revision`]: String(DELIVERY_CRD_REVISION) },
    },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural, singular, kind, listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              required: ['spec'],
              properties: {
                apiVersion: TEXT,
                kind: TEXT,
                metadata: { type: 'object' },
                spec: structural(spec),
                status,
              },
            },
          },
        },
      ],
    },
  };
}

/** A JSON schema in the form that CRDs may have: every value has a type, and alternatives are CEL rules. */
function structural(schema: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(schema)) return {};
  const { additionalProperties: _closed, oneOf, minItems, properties, items, ...rest } = schema;
  const rules = Array.isArray(rest['x-kubernetes-validations']) ? rest['x-kubernetes-validations'] : [];
  const all = Array.isArray(oneOf) ? [...rules, exactlyOne(oneOf)] : rules;
  const type = rest['type'] ?? 'string';
  return {
    ...rest,
    type,
    ...(type === 'string' && !('enum' in rest) && { maxLength: MAX_LENGTH }),
    ...(type === 'array' && { maxItems: MAX_ITEMS, items: structural(items) }),
    ...(minItems !== undefined && minItems !== 0 && { minItems }),
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, structural(property)]),
      ),
    }),
    ...(all.length > 0 && { 'x-kubernetes-validations': all }),
  };
}

function exactlyOne(alternatives: readonly unknown[]): Readonly<Record<string, string>> {
  const names = alternatives.map((each) => {
    const required = isObject(each) && Array.isArray(each['required']) ? each['required'] : [];
    return String(required[0]);
  });
  return {
    rule: `[${names.map((name) => `has(self.${name})`).join(', ')}].filter(x, x).size() == 1`,
    message: `must have exactly one of ${names.join(', ')}`,
  };
}
