import { isObject } from '@addon-operator/json';
import { type Fields, fieldsAt, listAt, numberAt, stringAt, valueAt } from '../json-access.ts';
import type { FieldErrors } from './field-errors.ts';
import { dnsLabel } from './name-rules.ts';
import { validateDescending, validateNoBacksteps } from './validate-container.ts';

const MAX_MODE = 0o777;
const MODE_PROBLEM = 'must be a number between 0 and 0777 (octal), both inclusive';

/** Checks the volumes of a pod, and returns the names of the valid ones. */
export function validateVolumes(
  volumes: readonly unknown[],
  path: string,
  errors: FieldErrors,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, item] of volumes.entries()) {
    const volume = fieldsAt(item);
    const place = `${path}[${index}]`;
    const before = errors.count;
    validateSource(volume, place, errors);
    const name = stringAt(volume, 'name');
    if (name === '') errors.required(`${place}.name`);
    else errors.invalidEach(`${place}.name`, name, dnsLabel(name));
    if (names.has(name)) errors.duplicate(`${place}.name`, name);
    if (errors.count === before) names.add(name);
  }
  return names;
}

function validateSource(volume: Fields, path: string, errors: FieldErrors): void {
  const [first, ...others] = Object.keys(volume).filter((field) => isObject(volume[field]));
  if (first === undefined) errors.required(path, 'must specify a volume type');
  else {
    validateKnownSource(first, fieldsAt(volume, first), `${path}.${first}`, errors);
    for (const other of others)
      errors.forbidden(`${path}.${other}`, 'may not specify more than 1 volume type');
  }
}

function validateKnownSource(type: string, source: Fields, path: string, errors: FieldErrors): void {
  switch (type) {
    case 'configMap':
      if (stringAt(source, 'name') === '') errors.required(`${path}.name`);
      validateFiles(source, path, errors);
      break;
    case 'secret':
      if (stringAt(source, 'secretName') === '') errors.required(`${path}.secretName`);
      validateFiles(source, path, errors);
      break;
    case 'persistentVolumeClaim':
      if (stringAt(source, 'claimName') === '') errors.required(`${path}.claimName`);
      break;
    case 'hostPath':
      if (stringAt(source, 'path') === '') errors.required(`${path}.path`);
      else validateNoBacksteps(stringAt(source, 'path'), `${path}.path`, errors);
      break;
    case 'nfs':
      for (const field of ['server', 'path'])
        if (stringAt(source, field) === '') errors.required(`${path}.${field}`);
      break;
    default:
  }
}

function validateFiles(source: Fields, path: string, errors: FieldErrors): void {
  validateMode(source['defaultMode'], `${path}.defaultMode`, errors);
  for (const [index, item] of listAt(source, 'items').entries()) {
    const place = `${path}.items[${index}]`;
    if (stringAt(item, 'key') === '') errors.required(`${place}.key`);
    const target = stringAt(item, 'path');
    if (target === '') errors.required(`${place}.path`);
    validateDescending(target, `${place}.path`, errors);
    if (target.startsWith('..') && !target.startsWith('../'))
      errors.invalid(`${place}.path`, target, "must not start with '..'");
    validateMode(valueAt(item, 'mode'), `${place}.mode`, errors);
  }
}

function validateMode(mode: unknown, path: string, errors: FieldErrors): void {
  const value = numberAt(mode);
  if (value !== undefined && (value < 0 || value > MAX_MODE)) errors.invalid(path, value, MODE_PROBLEM);
}
