import { isObject } from '@addon-operator/json';
import { type Fields, fieldsAt, listAt, numberAt, stringAt, valueAt } from './json-access.ts';
import { ALL_VERBS, type PrinterColumn, type ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';
import { invalid, type StatusCause } from './status-error.ts';
import { Field } from './validation/field.ts';

const AGE_COLUMN: PrinterColumn = {
  name: 'Age',
  type: 'date',
  format: '',
  description: 'Time since the object was created',
  priority: 0,
  jsonPath: '.metadata.creationTimestamp',
};

/** The kinds, one a served version, that a CustomResourceDefinition brings. */
export function kindsOfDefinition(definition: ResourceObject): readonly ServedKind[] {
  if (definition.metadata.deletionTimestamp !== undefined && !hasFinalizers(definition)) return [];
  const names = fieldsAt(definition, 'spec', 'names');
  const versions = listAt(definition, 'spec', 'versions').filter(isObject);
  return versions
    .filter((version) => version['served'] === true)
    .toSorted((left, right) => compareVersions(stringAt(right, 'name'), stringAt(left, 'name')))
    .map((version) => {
      const schema = fieldsAt(version, 'schema', 'openAPIV3Schema');
      const kind = stringAt(names, 'kind');
      return {
        group: stringAt(definition, 'spec', 'group'),
        version: stringAt(version, 'name'),
        kind,
        plural: stringAt(names, 'plural'),
        singular: stringAt(names, 'singular'),
        listKind: stringAt(names, 'listKind'),
        shortNames: stringsIn(names, 'shortNames'),
        categories: stringsIn(names, 'categories'),
        isNamespaced: stringAt(definition, 'spec', 'scope') === 'Namespaced',
        isCustom: true,
        hasStatus: valueAt(version, 'subresources', 'status') !== undefined,
        hasScale: false,
        verbs: ALL_VERBS,
        isReview: false,
        columns: printerColumns(version),
        schema,
      };
    });
}

function hasFinalizers(object: ResourceObject): boolean {
  return (object.metadata.finalizers ?? []).length > 0;
}

function stringsIn(value: unknown, field: string): readonly string[] {
  return listAt(value, field).filter((item) => typeof item === 'string');
}

function printerColumns(version: Fields): readonly PrinterColumn[] {
  const columns = listAt(version, 'additionalPrinterColumns').map((column) => ({
    name: stringAt(column, 'name'),
    type: stringAt(column, 'type'),
    format: stringAt(column, 'format'),
    description: stringAt(column, 'description'),
    priority: numberAt(column, 'priority') ?? 0,
    jsonPath: stringAt(column, 'jsonPath'),
  }));
  return columns.length === 0 ? [AGE_COLUMN] : columns;
}

/** Orders versions as discovery does: v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > anything else. */
export function compareVersions(left: string, right: string): number {
  const leftRank = versionRank(left);
  const rightRank = versionRank(right);
  for (const [index, rank] of leftRank.entries()) {
    const difference = rank - (rightRank[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left < right ? 1 : left > right ? -1 : 0;
}

const STAGES = ['alpha', 'beta', ''];

function versionRank(version: string): readonly number[] {
  const [, major, stage = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  if (major === undefined) return [-1, 0, 0];
  return [STAGES.indexOf(stage), Number(major), Number(minor)];
}

/**
 * A CustomResourceDefinition as it is stored: checked, and established at once, because its names collide with no others.
 *
 * @throws StatusError 422
 */
export function prepareDefinition(definition: ResourceObject, now: string): ResourceObject {
  const causes = definitionProblems(definition);
  const { name } = definition.metadata;
  if (causes.length > 0)
    throw invalid({ group: 'apiextensions.k8s.io', kind: definition.kind, name }, causes);
  const versions = listAt(definition, 'spec', 'versions');
  const stored = versions.filter((version) => valueAt(version, 'storage') === true);
  const older = listAt(definition, 'status', 'storedVersions');
  const storedVersions = [...new Set([...older, ...stored.map((version) => stringAt(version, 'name'))])];
  const existing = listAt(definition, 'status', 'conditions');
  const conditions = existing.length > 0 ? existing : establishedConditions(now);
  const acceptedNames = fieldsAt(definition, 'spec', 'names');
  return { ...definition, status: { conditions, acceptedNames, storedVersions } };
}

function establishedConditions(now: string): readonly Fields[] {
  return [
    {
      type: 'NamesAccepted',
      status: 'True',
      lastTransitionTime: now,
      reason: 'NoConflicts',
      message: 'no conflicts found',
    },
    {
      type: 'Established',
      status: 'True',
      lastTransitionTime: now,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ];
}

function definitionProblems(definition: ResourceObject): readonly StatusCause[] {
  const object = new Field(definition);
  const name = object.at('metadata', 'name');
  const group = object.at('spec', 'group');
  const plural = object.at('spec', 'names', 'plural');
  const scope = object.at('spec', 'scope');
  const versions = object.at('spec', 'versions');
  if (name.string !== `${plural.string}.${group.string}`)
    name.invalid('must be spec.names.plural+"."+spec.group');
  group.require();
  if (scope.string !== 'Namespaced' && scope.string !== 'Cluster') scope.required();
  plural.require();
  object.at('spec', 'names', 'kind').require();
  if (versions.items.filter((version) => version.at('storage').value === true).length !== 1)
    versions.invalid('must have exactly one version marked as storage version', versions.list.length);
  for (const schema of versions.items.map((version) => version.at('schema', 'openAPIV3Schema')))
    if (!isObject(schema.value)) schema.required('schemas are required');
  return object.causes;
}
