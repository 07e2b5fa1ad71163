import { stringOf } from '@addon-operator/json';
import { coreEvent, isEvent } from './event-versions.ts';
import type { ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';
import { badRequest } from './status-error.ts';

export type ObjectFilter = (object: ResourceObject) => boolean;
export type LabelFilter = (labels: Readonly<Record<string, string>>) => boolean;

const NO_LABELS: Readonly<Record<string, string>> = {};
const SET_TERM =
  /^(!?)\s*([^\s,!=<>()]+)\s*(?:(?:(==|=|!=|<|>)\s*([^\s,=<>()!]*))|(?:(in|notin)\s*\(([^()]*)\)))?\s*$/;

/**
 * Parses a label selector of a query (`a=b,c!=d,e in (x,y),!f,g>3`).
 *
 * @throws StatusError 400
 */
export function parseLabelSelector(text: string): LabelFilter {
  const filters = splitTerms(text).map(parseLabelTerm);
  return (labels) => filters.every((matches) => matches(labels));
}

/** Whether the labels of `object` pass. */
export function byLabels(filter: LabelFilter): ObjectFilter {
  return (object) => filter(object.metadata.labels ?? NO_LABELS);
}

/** Splits at commas outside parentheses; empty terms are refused, an empty text has none. */
function splitTerms(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const terms = text.split(/,(?![^()]*\))/).map((term) => term.trim());
  if (terms.includes('')) throw badRequest(`unable to parse requirement: found ',', expected: identifier`);
  return terms;
}

function parseLabelTerm(term: string): LabelFilter {
  const [, negation = '', key = '', operator, value = '', setOperator, setText = ''] =
    SET_TERM.exec(term) ?? [];
  if (key === '') throw badRequest(`unable to parse requirement: invalid label selector term '${term}'`);
  if (negation !== '') {
    if (operator !== undefined || setOperator !== undefined)
      throw badRequest(`unable to parse requirement: found '${term}', expected: identifier`);
    return (labels) => !Object.hasOwn(labels, key);
  }
  if (setOperator !== undefined) {
    const values = setText.split(',').map((item) => item.trim());
    const isIn = (labels: Readonly<Record<string, string>>): boolean => values.includes(labels[key] ?? '');
    if (setOperator === 'in') return (labels) => Object.hasOwn(labels, key) && isIn(labels);
    return (labels) => !(Object.hasOwn(labels, key) && isIn(labels));
  }
  switch (operator) {
    case undefined:
      return (labels) => Object.hasOwn(labels, key);
    case '!=':
      return (labels) => !Object.hasOwn(labels, key) || labels[key] !== value;
    case '<':
    case '>':
      return compareNumber(key, operator, value);
    default:
      return (labels) => Object.hasOwn(labels, key) && labels[key] === value;
  }
}

function compareNumber(key: string, operator: '<' | '>', value: string): LabelFilter {
  if (!/^-?\d+$/.test(value))
    throw badRequest(`unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer`);
  const limit = Number(value);
  return (labels) => {
    const label = labels[key] ?? '';
    if (!/^-?\d+$/.test(label)) return false;
    return operator === '<' ? Number(label) < limit : Number(label) > limit;
  };
}

const OF_ALL_KINDS: readonly string[] = ['metadata.name', 'metadata.namespace'];

/** Fields that a field selector may name, beside metadata.name and metadata.namespace, as paths into the object. */
const SELECTABLE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Job: ['status.successful'],
  Namespace: ['status.phase'],
  Node: ['spec.unschedulable'],
  Pod: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  ReplicaSet: ['status.replicas'],
  ReplicationController: ['status.replicas'],
  Secret: ['type'],
  Service: ['spec.clusterIP', 'spec.type'],
};

type SelectedKind = Pick<ServedKind, 'group' | 'kind' | 'isCustom'>;

/**
 * Parses a field selector of a query (`metadata.name=x,status.phase!=Running`).
 *
 * @throws StatusError 400 for a field that the kind does not offer
 */
export function parseFieldSelector(text: string, kind: SelectedKind): ObjectFilter {
  const filters = splitTerms(text).map((term) => parseFieldTerm(term, kind));
  return (object) => filters.every((matches) => matches(object));
}

function parseFieldTerm(term: string, kind: SelectedKind): ObjectFilter {
  const [, field = '', operator = '', value = ''] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
  if (field === '') throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const stringOf = selectedString(field, kind);
  const isWanted = operator !== '!=';
  return (object) => (stringOf(object) === value) === isWanted;
}

/** @throws StatusError 400 */
function selectedString(field: string, kind: SelectedKind): (object: ResourceObject) => string {
  const path = field.split('.');
  if (isEvent(kind)) return eventString(field, kind);
  const known = kind.isCustom ? [] : (SELECTABLE_FIELDS[kind.kind] ?? []);
  if (!OF_ALL_KINDS.includes(field) && !known.includes(field))
    throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
  return (object) => fieldString(object, path);
}

const REFERENCE_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** @throws StatusError 400 */
function eventString(field: string, { group }: SelectedKind): (event: ResourceObject) => string {
  const [object, reporter] =
    group === '' ? ['involvedObject', 'reportingComponent'] : ['regarding', 'reportingController'];
  const path = field.split('.');
  const [first, second = ''] = path;
  if (first === object && path.length === 2 && REFERENCE_FIELDS.includes(second))
    return (event) => fieldString(coreEvent(event), ['involvedObject', second]);
  if (field === reporter) return (event) => fieldString(coreEvent(event), ['reportingComponent']);
  if (field === 'source' && group === '')
    return (event) =>
      fieldString(coreEvent(event), ['source', 'component']) ||
      fieldString(coreEvent(event), ['reportingComponent']);
  if (OF_ALL_KINDS.includes(field) || field === 'reason' || field === 'type')
    return (event) => fieldString(event, path);
  throw badRequest(`field label not supported: ${field}`);
}

function fieldString(object: ResourceObject, path: readonly string[]): string {
  let value: unknown = object;
  for (const step of path)
    value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return stringOf(value);
}
