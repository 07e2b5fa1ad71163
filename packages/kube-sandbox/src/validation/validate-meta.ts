import { type Fields, listAt, stringAt, stringsAt, valueAt } from '../json-access.ts';
import { isNamespace, type ServedKind } from '../kinds.ts';
import type { ResourceObject } from '../resource-object.ts';
import type { FieldErrors } from './field-errors.ts';
import {
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  labelValue,
  type NameRule,
  pathSegment,
  qualifiedName,
} from './name-rules.ts';

const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The rule of names of a kind. */
export function nameRuleOf(kind: Pick<ServedKind, 'group' | 'kind'>): NameRule {
  if (kind.group === 'rbac.authorization.k8s.io') return pathSegment;
  if (kind.group === '' && kind.kind === 'Event') return pathSegment;
  if (isNamespace(kind)) return dnsLabel;
  if (kind.group === '' && kind.kind === 'Service') return dns1035Label;
  if (kind.group === 'apps' && kind.kind === 'StatefulSet') return dnsLabel;
  return dnsSubdomain;
}

/** Checks the metadata of an object, whatever its kind; on an update the name was checked before. */
export function validateMeta(
  { metadata }: ResourceObject,
  kind: ServedKind,
  errors: FieldErrors,
  isUpdate: boolean,
): void {
  const { name, generateName = '' } = metadata;
  if (!isUpdate) {
    const rule = nameRuleOf(kind);
    // What follows is appended, so the end may be one that a name must not have.
    if (generateName !== '')
      errors.invalidEach('metadata.generateName', generateName, rule(generateName.replace(/-$/, 'a')));
    if (name === '') errors.required('metadata.name', 'name or generateName is required');
    else errors.invalidEach('metadata.name', name, rule(name));
  }
  validateLabels(metadata.labels ?? {}, 'metadata.labels', errors);
  validateAnnotations(metadata.annotations ?? {}, 'metadata.annotations', errors);
  validateOwners(metadata.ownerReferences ?? [], errors);
  if (!isUpdate)
    for (const finalizer of metadata.finalizers ?? [])
      errors.invalidEach('metadata.finalizers', finalizer, qualifiedName(finalizer));
}

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** Finalizers of anything but the cluster itself need a domain. */
export function validateFinalizerDomains({ metadata }: ResourceObject, errors: FieldErrors): void {
  for (const [index, finalizer] of (metadata.finalizers ?? []).entries()) {
    if (!finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer))
      errors.invalid(
        `metadata.finalizers[${index}]`,
        finalizer,
        'name is neither a standard finalizer name nor is it fully qualified',
      );
  }
}

export function validateLabels(
  labels: Readonly<Record<string, string>>,
  path: string,
  errors: FieldErrors,
): void {
  for (const [key, value] of Object.entries(labels)) {
    errors.invalidEach(path, key, qualifiedName(key));
    errors.invalidEach(path, value, labelValue(value));
  }
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: string,
  errors: FieldErrors,
): void {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    errors.invalidEach(path, key, qualifiedName(key.toLowerCase()));
    sizeBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (sizeBytes > MAX_ANNOTATIONS_BYTES) errors.tooLong(path, MAX_ANNOTATIONS_BYTES);
}

function validateOwners(owners: readonly unknown[], errors: FieldErrors): void {
  const path = 'metadata.ownerReferences';
  let controller = '';
  for (const owner of owners) {
    const apiVersion = stringAt(owner, 'apiVersion');
    if (apiVersion === '') errors.invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty');
    for (const field of ['kind', 'name', 'uid']) {
      if (stringAt(owner, field) === '') errors.invalid(`${path}.${field}`, '', 'must not be empty');
    }
    if (valueAt(owner, 'controller') !== true) continue;
    const title = `${stringAt(owner, 'kind')}/${stringAt(owner, 'name')}`;
    if (controller !== '')
      errors.invalid(
        path,
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${title}`,
      );
    else controller = title;
  }
}

const SET_OPERATORS = ['In', 'NotIn'];
const EXISTENCE_OPERATORS = ['Exists', 'DoesNotExist'];

/** Checks a label selector; undefined is accepted. */
export function validateSelector(selector: unknown, path: string, errors: FieldErrors): void {
  validateLabels(stringsAt(selector, 'matchLabels'), `${path}.matchLabels`, errors);
  for (const [index, expression] of listAt(selector, 'matchExpressions').entries()) {
    const place = `${path}.matchExpressions[${index}]`;
    const operator = stringAt(expression, 'operator');
    const values = listAt(expression, 'values');
    if (SET_OPERATORS.includes(operator)) {
      if (values.length === 0)
        errors.required(`${place}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (EXISTENCE_OPERATORS.includes(operator)) {
      if (values.length > 0)
        errors.forbidden(
          `${place}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        );
    } else errors.invalid(`${place}.operator`, operator, 'not a valid selector operator');
    const key = stringAt(expression, 'key');
    errors.invalidEach(`${place}.key`, key, qualifiedName(key));
    for (const [number, value] of values.entries())
      errors.invalidEach(`${place}.values[${number}]`, value, labelValue(String(value)));
  }
}

/** Whether a selector has no condition. */
export function isEmptySelector(selector: unknown): boolean {
  return (
    Object.keys(stringsAt(selector, 'matchLabels')).length === 0 &&
    listAt(selector, 'matchExpressions').length === 0
  );
}

/** Whether labels meet a selector; undefined if the selector cannot be read. */
export function selectorMatches(selector: unknown, labels: Fields): boolean | undefined {
  const isEqual = Object.entries(stringsAt(selector, 'matchLabels')).every(
    ([key, value]) => labels[key] === value,
  );
  if (!areLabels(stringsAt(selector, 'matchLabels'))) return undefined;
  let isMatch = isEqual;
  for (const expression of listAt(selector, 'matchExpressions')) {
    const result = meetsExpression(expression, labels);
    if (result === undefined) return undefined;
    isMatch &&= result;
  }
  return isMatch;
}

function areLabels(labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(
    ([key, value]) => qualifiedName(key).length === 0 && labelValue(value).length === 0,
  );
}

function meetsExpression(expression: unknown, labels: Fields): boolean | undefined {
  const value = labels[stringAt(expression, 'key')];
  const values = listAt(expression, 'values');
  const isValid = values.every((each) => labelValue(String(each)).length === 0);
  if (!isValid || qualifiedName(stringAt(expression, 'key')).length > 0) return undefined;
  switch (stringAt(expression, 'operator')) {
    case 'In':
      return values.length === 0 ? undefined : values.includes(value);
    case 'NotIn':
      return values.length === 0 ? undefined : !values.includes(value);
    case 'Exists':
      return values.length > 0 ? undefined : value !== undefined;
    case 'DoesNotExist':
      return values.length > 0 ? undefined : value === undefined;
    default:
      return undefined;
  }
}
