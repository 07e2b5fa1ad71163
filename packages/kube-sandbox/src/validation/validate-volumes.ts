import { isObject } from '@addon-operator/json';
import type { Field } from './field.ts';
import { dnsLabel } from './name-rules.ts';
import { validateDescending, validateNoBacksteps } from './validate-container.ts';

const MAX_MODE = 0o777;

/** Checks the volumes of a pod, and returns the names of the valid ones. */
export function validateVolumes(volumes: Field): ReadonlySet<string> {
  const names = new Set<string>();
  for (const volume of volumes.items) {
    const before = volume.causes.length;
    validateSource(volume);
    const name = volume.at('name');
    name.require(dnsLabel);
    if (names.has(name.string)) name.duplicate();
    if (volume.causes.length === before) names.add(name.string);
  }
  return names;
}

function validateSource(volume: Field): void {
  const [first, ...others] = Object.keys(volume.fields).filter((field) => isObject(volume.fields[field]));
  if (first === undefined) volume.required('must specify a volume type');
  else {
    validateKnownSource(first, volume.at(first));
    for (const other of others) volume.at(other).forbidden('may not specify more than 1 volume type');
  }
}

function validateKnownSource(type: string, source: Field): void {
  switch (type) {
    case 'configMap':
      source.at('name').require();
      validateFiles(source);
      break;
    case 'secret':
      source.at('secretName').require();
      validateFiles(source);
      break;
    case 'persistentVolumeClaim':
      source.at('claimName').require();
      break;
    case 'hostPath':
      source.at('path').require();
      validateNoBacksteps(source.at('path'));
      break;
    case 'nfs':
      source.at('server').require();
      source.at('path').require();
      break;
    default:
  }
}

function validateFiles(source: Field): void {
  validateMode(source.at('defaultMode'));
  for (const item of source.at('items').items) {
    item.at('key').require();
    const target = item.at('path');
    target.require();
    validateDescending(target);
    if (target.string.startsWith('..') && !target.string.startsWith('../'))
      target.invalid("must not start with '..'");
    validateMode(item.at('mode'));
  }
}

function validateMode(mode: Field): void {
  if (mode.number !== undefined && (mode.number < 0 || mode.number > MAX_MODE))
    mode.invalid('must be a number between 0 and 0777 (octal), both inclusive');
}
