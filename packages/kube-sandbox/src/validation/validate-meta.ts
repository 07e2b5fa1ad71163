import { type Fields, listAt, stringAt, stringsAt } from '../json-access.ts';
import { isNamespace, type ServedKind } from '../kinds.ts';
import type { Field } from './field.ts';
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
export function validateMeta(object: Field, kind: ServedKind, isUpdate: boolean): void {
  const metadata = object.at('metadata');
  if (!isUpdate) {
    const rule = nameRuleOf(kind);
    // What follows is appended, so the end may be one that a name must not have.
    metadata.at('generateName').checkIfSet((base) => rule(base.replace(/-$/, 'a')));
    metadata.at('name').require(rule, 'name or generateName is required');
  }
  validateLabels(metadata.at('labels'));
  validateAnnotations(metadata.at('annotations'));
  validateOwners(metadata.at('ownerReferences'));
  const finalizers = metadata.at('finalizers');
  for (const finalizer of isUpdate ? [] : finalizers.list.map(String))
    finalizers.check(qualifiedName(finalizer), finalizer);
}

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** Finalizers of anything but the cluster itself need a domain. */
export function validateFinalizerDomains(object: Field): void {
  for (const finalizer of object.at('metadata', 'finalizers').items) {
    if (!finalizer.string.includes('/') && !STANDARD_FINALIZERS.includes(finalizer.string))
      finalizer.invalid('name is neither a standard finalizer name nor is it fully qualified');
  }
}

export function validateLabels(labels: Field): void {
  for (const [key, value] of Object.entries(stringsAt(labels.value))) {
    labels.check(qualifiedName(key), key);
    labels.check(labelValue(value), value);
  }
}

export function validateAnnotations(annotations: Field): void {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(stringsAt(annotations.value))) {
    annotations.check(qualifiedName(key.toLowerCase()), key);
    sizeBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (sizeBytes > MAX_ANNOTATIONS_BYTES) annotations.tooLong(MAX_ANNOTATIONS_BYTES);
}

function validateOwners(owners: Field): void {
  let controller = '';
  for (const owner of owners.items) {
    // The API server leaves the position out of these paths.
    const unplaced = owner.named(owners.path);
    if (owner.at('apiVersion').string === '')
      unplaced.at('apiVersion').invalid('version must not be empty', '');
    for (const field of ['kind', 'name', 'uid'])
      if (owner.at(field).string === '') unplaced.at(field).invalid('must not be empty', '');
    if (owner.at('controller').value !== true) continue;
    const title = `${owner.at('kind').string}/${owner.at('name').string}`;
    if (controller !== '')
      owners.invalid(
        `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${title}`,
      );
    else controller = title;
  }
}

/** Checks a label selector; undefined is accepted. */
export function validateSelector(selector: Field): void {
  validateLabels(selector.at('matchLabels'));
  for (const expression of selector.at('matchExpressions').items) {
    const values = expression.at('values');
    switch (expression.at('operator').string) {
      case 'In':
      case 'NotIn':
        if (values.list.length === 0) values.required("must be specified when `operator` is 'In' or 'NotIn'");
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.list.length > 0)
          values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        break;
      default:
        expression.at('operator').invalid('not a valid selector operator', expression.at('operator').string);
    }
    const key = expression.at('key');
    key.check(qualifiedName(key.string), key.string);
    for (const value of values.items) value.check(labelValue(String(value.value)));
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
  const wanted = Object.entries(stringsAt(selector, 'matchLabels'));
  if (!wanted.every(([key, value]) => isQualified(key) && isLabelValue(value))) return undefined;
  let isMatch = wanted.every(([key, value]) => labels[key] === value);
  for (const expression of listAt(selector, 'matchExpressions')) {
    const result = meetsExpression(expression, labels);
    if (result === undefined) return undefined;
    isMatch &&= result;
  }
  return isMatch;
}

function isQualified(key: string): boolean {
  return qualifiedName(key).length === 0;
}

function isLabelValue(value: unknown): boolean {
  return labelValue(String(value)).length === 0;
}

function meetsExpression(expression: unknown, labels: Fields): boolean | undefined {
  const key = stringAt(expression, 'key');
  const values = listAt(expression, 'values');
  if (!isQualified(key) || !values.every(isLabelValue)) return undefined;
  const value = labels[key];
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
