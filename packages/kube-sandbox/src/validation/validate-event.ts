import { coreEvent } from '../event-versions.ts';
import { equalJson, fieldsAt, numberAt, stringAt } from '../json-access.ts';
import type { ServedKind } from '../kinds.ts';
import type { ResourceObject } from '../resource-object.ts';
import type { FieldErrors, GoStruct } from './field-errors.ts';
import { dnsSubdomain, qualifiedName } from './name-rules.ts';

const TEXT_LIMIT = 128;
const MESSAGE_LIMIT = 1024;

/** What Events of both versions must keep to. Messages name fields as `v1` does. */
export function validateEvent(object: ResourceObject, kind: ServedKind, errors: FieldErrors): void {
  const event = coreEvent(object);
  const { namespace = '' } = event.metadata;
  if (stringAt(event, 'eventTime') === '') {
    const isClusterWide = stringAt(event, 'involvedObject', 'namespace') === '';
    validateNamespaceOfObject(event, isClusterWide ? ['', 'default'] : [namespaceOfObject(event)], errors);
  } else {
    if (namespaceOfObject(event) === '') validateNamespaceOfObject(event, ['default', 'kube-system'], errors);
    validateReport(event, kind.group === '' ? 'reportingComponent' : 'reportingController', errors);
  }
  errors.invalidEach('namespace', namespace, dnsSubdomain(namespace));
}

function namespaceOfObject(event: ResourceObject): string {
  return stringAt(event, 'involvedObject', 'namespace');
}

function validateNamespaceOfObject(
  event: ResourceObject,
  allowed: readonly string[],
  errors: FieldErrors,
): void {
  if (allowed.includes(event.metadata.namespace ?? '')) return;
  errors.invalid('involvedObject.namespace', namespaceOfObject(event), 'does not match event.namespace');
}

function validateReport(event: ResourceObject, controllerField: string, errors: FieldErrors): void {
  const controller = stringAt(event, 'reportingComponent');
  if (controller === '') errors.required(controllerField);
  errors.invalidEach(controllerField, controller, qualifiedName(controller));
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const text = stringAt(event, field);
    if (text === '') errors.required(field);
    validateLength(field, text, TEXT_LIMIT, errors);
  }
  validateLength('message', stringAt(event, 'message'), MESSAGE_LIMIT, errors);
}

function validateLength(field: string, text: string, limit: number, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > limit) errors.invalid(field, '', `can have at most ${limit} characters`);
}

/** What is required, beyond that, of an Event that is created through `events.k8s.io/v1`. */
export function validateNewEvent(object: ResourceObject, errors: FieldErrors): void {
  const event = coreEvent(object);
  validateSeries(event, errors);
  if (stringAt(event, 'eventTime') === '') errors.required('eventTime');
  const type = stringAt(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') errors.invalid('type', '', `has invalid value: ${type}`);
  const { component = '', host = '' } = fieldsAt(event, 'source');
  const isSet = {
    firstTimestamp: stringAt(event, 'firstTimestamp') !== '',
    lastTimestamp: stringAt(event, 'lastTimestamp') !== '',
    count: (numberAt(event, 'count') ?? 0) !== 0,
    source: component !== '' || host !== '',
  };
  for (const [field, isPresent] of Object.entries(isSet))
    if (isPresent) errors.invalid(field, '', 'needs to be unset');
}

function validateSeries(event: ResourceObject, errors: FieldErrors): void {
  if (event['series'] === undefined) return;
  if ((numberAt(event, 'series', 'count') ?? 0) < 2)
    errors.invalid('series.count', '', 'should be at least 2');
  if (stringAt(event, 'series', 'lastObservedTime') === '') errors.required('series.lastObservedTime');
}

/** Fields that an update through `events.k8s.io/v1` must leave as they are, in the order of the API server's messages. */
const IMMUTABLE = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingController',
  'reportingInstance',
];

/** What an update through `events.k8s.io/v1` may not change. */
export function validateChangedEvent(
  before: ResourceObject,
  after: ResourceObject,
  errors: FieldErrors,
): void {
  const [old, event] = [coreEvent(before), coreEvent(after)];
  if (!equalJson(old['series'], event['series'])) validateSeries(event, errors);
  for (const field of IMMUTABLE) {
    const name = field === 'reportingController' ? 'reportingComponent' : field;
    if (!equalJson(old[name], event[name]))
      errors.invalid(field, shownValue(name, event[name]), 'field is immutable');
  }
}

/** A value as the internal type of the API server has it, all of its fields in order. */
function shownValue(field: string, value: unknown): unknown {
  switch (field) {
    case 'source':
      return goStruct(value, { Component: 'component', Host: 'host' });
    case 'involvedObject':
    case 'related':
      return value === undefined ? undefined : goStruct(value, REFERENCE);
    case 'count':
      return value ?? 0;
    case 'firstTimestamp':
    case 'lastTimestamp':
    case 'eventTime':
      return value;
    default:
      return value ?? '';
  }
}

const REFERENCE = {
  Kind: 'kind',
  Namespace: 'namespace',
  Name: 'name',
  UID: 'uid',
  APIVersion: 'apiVersion',
  ResourceVersion: 'resourceVersion',
  FieldPath: 'fieldPath',
};

function goStruct(value: unknown, names: Readonly<Record<string, string>>): GoStruct {
  return new Map(Object.entries(names).map(([goName, name]) => [goName, stringAt(value, name)]));
}
