import { equalJson, fieldsAt, stringAt } from '../json-access.ts';
import type { ServedKind } from '../kinds.ts';
import type { ResourceObject } from '../resource-object.ts';
import type { Field, GoStruct } from './field.ts';
import { dnsSubdomain, qualifiedName } from './name-rules.ts';

const TEXT_LIMIT = 128;
const MESSAGE_LIMIT = 1024;

/** Checks an Event of either version. The event is as `v1` has it, and messages name its fields so. */
export function validateEvent(event: Field, kind: ServedKind): void {
  const namespace = event.at('metadata', 'namespace').string;
  const namespaceOfObject = event.at('involvedObject', 'namespace');
  const requireNamespace = (allowed: readonly string[]): void => {
    if (!allowed.includes(namespace))
      namespaceOfObject.invalid('does not match event.namespace', namespaceOfObject.string);
  };
  if (event.at('eventTime').string === '')
    requireNamespace(namespaceOfObject.string === '' ? ['', 'default'] : [namespaceOfObject.string]);
  else {
    if (namespaceOfObject.string === '') requireNamespace(['default', 'kube-system']);
    validateReport(event, kind.group === '' ? 'reportingComponent' : 'reportingController');
  }
  event.named('namespace').check(dnsSubdomain(namespace), namespace);
}

function validateReport(event: Field, controllerField: string): void {
  const controller = event.at('reportingComponent').named(controllerField);
  if (controller.string === '') controller.required();
  controller.check(qualifiedName(controller.string), controller.string);
  for (const field of ['reportingInstance', 'action', 'reason'].map((name) => event.at(name))) {
    field.require();
    validateLength(field, TEXT_LIMIT);
  }
  validateLength(event.at('message'), MESSAGE_LIMIT);
}

function validateLength(field: Field, limit: number): void {
  if (Buffer.byteLength(field.string) > limit) field.invalid(`can have at most ${limit} characters`, '');
}

/** Further checks of an Event that is created through `events.k8s.io/v1`. */
export function validateNewEvent(event: Field): void {
  validateSeries(event.at('series'));
  event.at('eventTime').require();
  const type = event.at('type');
  if (type.string !== 'Normal' && type.string !== 'Warning')
    type.invalid(`has invalid value: ${type.string}`, '');
  const { component = '', host = '' } = event.at('source').fields;
  const isPresent = {
    firstTimestamp: event.at('firstTimestamp').string !== '',
    lastTimestamp: event.at('lastTimestamp').string !== '',
    count: (event.at('count').number ?? 0) !== 0,
    source: component !== '' || host !== '',
  };
  for (const [field, isSet] of Object.entries(isPresent))
    if (isSet) event.at(field).invalid('needs to be unset', '');
}

function validateSeries(series: Field): void {
  if (!series.isSet) return;
  if ((series.at('count').number ?? 0) < 2) series.at('count').invalid('should be at least 2', '');
  series.at('lastObservedTime').require();
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

/** Reports fields that an update through `events.k8s.io/v1` may not change; both as `v1` has them. */
export function validateChangedEvent(before: ResourceObject, event: Field): void {
  if (!equalJson(before['series'], event.at('series').value)) validateSeries(event.at('series'));
  for (const field of IMMUTABLE) {
    const name = field === 'reportingController' ? 'reportingComponent' : field;
    const { value } = event.at(name);
    if (!equalJson(before[name], value))
      event.at(field).invalid('field is immutable', shownValue(name, value));
  }
}

const SOURCE = { Component: 'component', Host: 'host' };
const REFERENCE = {
  Kind: 'kind',
  Namespace: 'namespace',
  Name: 'name',
  UID: 'uid',
  APIVersion: 'apiVersion',
  ResourceVersion: 'resourceVersion',
  FieldPath: 'fieldPath',
};

/** A value as the internal type of the API server has it, all of its fields in order. */
function shownValue(field: string, value: unknown): unknown {
  switch (field) {
    case 'source':
      return goStruct(value, SOURCE);
    case 'involvedObject':
    case 'related':
      return value === undefined ? null : goStruct(value, REFERENCE);
    case 'count':
      return value ?? 0;
    case 'firstTimestamp':
    case 'lastTimestamp':
    case 'eventTime':
      return value ?? null;
    default:
      return value ?? '';
  }
}

function goStruct(value: unknown, names: Readonly<Record<string, string>>): GoStruct {
  return new Map(Object.entries(names).map(([goName, name]) => [goName, stringAt(fieldsAt(value), name)]));
}
