import { isNamespace, type ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';
import { invalid, type StatusCause } from './status-error.ts';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const LABEL_VALUE = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?';

interface NameRule {
  readonly pattern: RegExp;
  readonly maxLength: number;
  readonly problem: string;
}

const SUBDOMAIN_RULE: NameRule = {
  pattern: new RegExp(`^${SUBDOMAIN}$`),
  maxLength: 253,
  problem: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`,
};

const LABEL_RULE: NameRule = {
  pattern: new RegExp(`^${LABEL}$`),
  maxLength: 63,
  problem: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`,
};

const DNS_1035_RULE: NameRule = {
  pattern: new RegExp(`^${DNS_1035}$`),
  maxLength: 63,
  problem: `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${DNS_1035}')`,
};

function ruleOf(kind: ServedKind): NameRule | undefined {
  if (kind.group === 'rbac.authorization.k8s.io') return undefined;
  if (isNamespace(kind)) return LABEL_RULE;
  if (kind.group === '' && kind.kind === 'Service') return DNS_1035_RULE;
  return SUBDOMAIN_RULE;
}

function nameProblem(name: string, kind: ServedKind): string | undefined {
  const rule = ruleOf(kind);
  if (rule === undefined) {
    if (name === '.' || name === '..') return `may not be '${name}'`;
    return /[/%]/.test(name) ? `may not contain '${name.includes('/') ? '/' : '%'}'` : undefined;
  }
  if (rule === LABEL_RULE && name.includes('.')) return 'must not contain dots';
  if (name.length > rule.maxLength) return `must be no more than ${rule.maxLength} bytes`;
  return rule.pattern.test(name) ? undefined : rule.problem;
}

/**
 * Checks name and labels of an object.
 *
 * @throws StatusError 422
 */
export function validateNames(object: ResourceObject, kind: ServedKind): void {
  const { name, labels } = object.metadata;
  const causes: StatusCause[] = [];
  if (name === '') causes.push(required('metadata.name', 'name or generateName is required'));
  else {
    const problem = nameProblem(name, kind);
    if (problem !== undefined) causes.push(invalidValue('metadata.name', name, problem));
  }
  for (const value of Object.values(labels ?? {})) {
    if (value.length > 63 || !new RegExp(`^${LABEL_VALUE}$`).test(value))
      causes.push(invalidValue('metadata.labels', value, labelProblem(value)));
  }
  if (causes.length > 0) throw invalid({ group: kind.group, kind: kind.kind, name }, causes);
}

function labelProblem(value: string): string {
  if (value.length > 63) return 'must be no more than 63 bytes';
  return `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${LABEL_VALUE}')`;
}

export function required(field: string, why: string): StatusCause {
  const message = why === '' ? 'Required value' : `Required value: ${why}`;
  return { reason: 'FieldValueRequired', message, field };
}

export function invalidValue(field: string, value: unknown, why: string): StatusCause {
  return {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
    field,
  };
}

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const MAX_GENERATED_BASE = 58;

/** A name made of `base` and five random letters. */
export function generateName(base: string, random: () => number): string {
  let suffix = '';
  for (let count = 0; count < 5; count += 1) {
    suffix += SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)] ?? '';
  }
  return `${base.slice(0, MAX_GENERATED_BASE)}${suffix}`;
}
