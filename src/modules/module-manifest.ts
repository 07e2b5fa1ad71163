import { OperatorError } from '@addon-operator/base/errors';
import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { didYouMean } from '@addon-operator/json/similar-word';
import { refuseUnknown } from '@addon-operator/json/unknown-keys';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import validVersion from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';
import { type ConflictPolicy, readConflictPolicy } from '../releases/conflicts.ts';
import { type DriftPolicy, NO_DRIFT_POLICY, readDriftPolicy } from '../releases/drift/drift-policy.ts';
import type { ModuleName } from '../values/module-key.ts';
import { FOREIGN_KEYS, type ForeignManifest, readForeign } from './foreign-manifest.ts';
import { parseModuleName } from './module-name.ts';
import { type ReconcileWebhook, readReconcileWebhook } from './reconcile-webhook.ts';
import type { Requirement } from './requirement.ts';

const DELETION_POLICIES = ['delete', 'orphan', 'protect'] as const;

/**
 * The effect of disabling a module. `delete`: release and objects are deleted. `orphan`: they stay
 * and are not monitored any more. `protect`: a deployed module stays enabled.
 */
export type DeletionPolicy = (typeof DELETION_POLICIES)[number];

/** The content of `module.yaml`. */
export interface ModuleManifest extends ForeignManifest {
  readonly requires: readonly Requirement[];
  readonly version: string | undefined;
  /** The range of versions of the operator that can run it, compared before a version is installed from a registry. */
  readonly operator: string | undefined;
  readonly deletionPolicy: DeletionPolicy;
  /** The reaction to changes of its release's objects by other clients. */
  readonly drift: DriftPolicy;
  readonly conflicts: ConflictPolicy;
  /**
   * The reconcile webhook, which may change the applied objects and has to agree to a deletion;
   * undefined without one.
   */
  readonly hook: ReconcileWebhook | undefined;
  /** A Go duration or a crontab after which it is reconciled without a change; undefined: never. */
  readonly reconcileEvery: string | undefined;
  /** Whether it counts as ready only when all its objects are ready. */
  readonly waitsUntilReady: boolean;
  /** Sentences about unknown keys, and about values without effect. */
  readonly remarks: readonly string[];
  /** Scripts with several hooks, relative to the directory of hooks. */
  readonly batchHooks: readonly string[];
}

/** A module without `module.yaml`. */
export const NO_MANIFEST: ModuleManifest = {
  requires: [],
  version: undefined,
  operator: undefined,
  deletionPolicy: 'delete',
  drift: NO_DRIFT_POLICY,
  conflicts: 'overwrite',
  hook: undefined,
  reconcileEvery: undefined,
  waitsUntilReady: false,
  weight: undefined,
  kubernetes: undefined,
  about: {},
  remarks: [],
  batchHooks: [],
};

const KEYS = [
  'requires',
  'version',
  'operator',
  'deletionPolicy',
  'drift',
  'conflicts',
  'hook',
  'reconcileEvery',
  'waitUntilReady',
  'batchHooks',
];
const REQUIREMENT_KEYS = ['name', 'version', 'optional'];

/**
 * Parses the content of a `module.yaml`. All problems are reported at once, each with its path.
 * Other programs have keys in this file too, so an unknown key is only a remark.
 *
 * @param module its name, for comparison
 * @param path of the file, for messages
 * @throws OperatorError MODULE_INVALID for an invalid value of one of our keys
 */
export function parseModuleManifest(content: Json, module: string, path: string): ModuleManifest {
  const problems: string[] = [];
  const manifest = content === null ? NO_MANIFEST : readManifest(content, module, problems);
  if (problems.length === 0) return manifest;
  throw new OperatorError('MODULE_INVALID', problems.map((problem) => `${path}: ${problem}`).join('\n'));
}

function readManifest(content: Json, module: string, problems: string[]): ModuleManifest {
  if (!isJsonMap(content)) {
    problems.push(`expected a map, got ${typeName(content)}`);
    return NO_MANIFEST;
  }
  const remarks = unknownKeys(content);
  const foreign = readForeign(content, module, remarks);
  const { requires = null, version = null, deletionPolicy = null, drift = null, conflicts = null } = content;
  return {
    ...foreign,
    requires: allRequirements(readRequirements(requires, problems), foreign.requires),
    version: readVersion(version, problems),
    operator: readOperator(content['operator'] ?? null, problems),
    deletionPolicy: readPolicy(deletionPolicy, problems),
    drift: readDriftPolicy(drift, problems),
    conflicts: readConflictPolicy(conflicts, problems),
    hook: readReconcileWebhook(content['hook'], problems),
    reconcileEvery: readReconcileEvery(content['reconcileEvery'], problems),
    waitsUntilReady: readFlag('waitUntilReady', content['waitUntilReady'], problems),
    remarks,
    batchHooks: readBatchHooks(content['batchHooks'], problems),
  };
}

function unknownKeys(content: JsonObject): string[] {
  const isUnknown = (key: string): boolean => !KEYS.includes(key) && !FOREIGN_KEYS.includes(key);
  return Object.keys(content)
    .filter(isUnknown)
    .map((key) => `${key}: unknown key, it is ignored${didYouMean(key, [...KEYS, ...FOREIGN_KEYS])}`);
}

/** Merges requirements; our own key `requires` wins for a module that both name. */
function allRequirements(
  own: readonly Requirement[],
  foreign: readonly Requirement[],
): readonly Requirement[] {
  return [...own, ...foreign.filter(({ name }) => !own.some((other) => other.name === name))];
}

function readVersion(value: Json, problems: string[]): string | undefined {
  if (value === null) return undefined;
  if (typeof value === 'string' && validVersion(value) !== null) return value;
  problems.push(
    `version: expected a semantic version in quotes, such as "1.2.3", got ${typeof value === 'string' ? `"${value}"` : typeName(value)}`,
  );
  return undefined;
}

function readOperator(value: Json, problems: string[]): string | undefined {
  if (value === null) return undefined;
  if (typeof value === 'string' && validRange(value) !== null) return value;
  problems.push(`operator: expected a range of versions, such as ">=1.2", got ${JSON.stringify(value)}`);
  return undefined;
}

function readFlag(key: string, value: Json | undefined, problems: string[]): boolean {
  if (typeof value !== 'boolean' && value !== undefined && value !== null)
    problems.push(`${key}: expected true or false, got ${typeName(value)}`);
  return value === true;
}

function readBatchHooks(value: Json | undefined, problems: string[]): readonly string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((path) => typeof path === 'string')) return value;
  problems.push('batchHooks: expected a list of paths of files, relative to hooks/');
  return [];
}

function readPolicy(value: Json, problems: string[]): DeletionPolicy {
  if (value === null) return 'delete';
  const policy = DELETION_POLICIES.find((known) => known === value);
  if (policy !== undefined) return policy;
  problems.push(
    `deletionPolicy: expected one of ${DELETION_POLICIES.join(', ')}, got ${JSON.stringify(value)}`,
  );
  return 'delete';
}

function readRequirements(value: Json, problems: string[]): readonly Requirement[] {
  if (value === null) return [];
  if (!Array.isArray(value)) {
    problems.push(`requires: expected a list, got ${typeName(value)}`);
    return [];
  }
  const requirements = value.flatMap((item, index) => readRequirement(item, `requires[${index}]`, problems));
  const names = requirements.map(({ name }) => name);
  // A second entry would silently lose against the first one.
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  for (const name of new Set(twice)) problems.push(`requires: "${name}" is listed more than once`);
  return requirements;
}

function readRequirement(item: Json, at: string, problems: string[]): readonly Requirement[] {
  if (!isJsonMap(item)) {
    problems.push(`${at}: expected a map with the key name, got ${typeName(item)}`);
    return [];
  }
  refuseUnknown(item, REQUIREMENT_KEYS, at, problems);
  const { name = null, version = null, optional = false } = item;
  if (version !== null && (typeof version !== 'string' || validRange(version) === null))
    problems.push(
      `${at}.version: expected a range of versions, such as ">=1.2", got ${JSON.stringify(version)}`,
    );
  if (typeof optional !== 'boolean') problems.push(`${at}.optional: expected true or false`);
  const parsed = readName(name, at, problems);
  if (parsed === undefined) return [];
  return [
    {
      name: parsed,
      version: typeof version === 'string' ? version : undefined,
      isOptional: optional === true,
    },
  ];
}

function readName(name: Json, at: string, problems: string[]): ModuleName | undefined {
  if (typeof name !== 'string') {
    problems.push(`${at}.name: expected the name of a module, got ${typeName(name)}`);
    return undefined;
  }
  try {
    return parseModuleName(name);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    problems.push(`${at}.name: ${error.message}`);
    return undefined;
  }
}

function typeName(value: Json): string {
  if (value === null) return 'nothing';
  return Array.isArray(value) ? 'a list' : `a ${isJsonMap(value) ? 'map' : typeof value}`;
}

const MIN_MS = 1_000;
const FORMS = 'a duration of at least 1s such as 10m or 1h30m, or a crontab such as "0 3 * * *" or "@daily"';

/**
 * Reads the key `reconcileEvery`; problems are added to `problems`. The fields of a crontab are
 * checked later, by its parser in `reconcile/reconcile-schedule.ts`.
 */
function readReconcileEvery(value: unknown, problems: string[]): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string' && (isDuration(value) || looksLikeCrontab(value))) return value;
  problems.push(`reconcileEvery: expected ${FORMS}, got ${JSON.stringify(value)}`);
  return undefined;
}

function isDuration(value: string): boolean {
  return (parseGoDuration(value) ?? 0) >= MIN_MS;
}

function looksLikeCrontab(value: string): boolean {
  const fields = value.replace(/^TZ=\S+\s+/, '').trim();
  return fields.startsWith('@') || [5, 6].includes(fields.split(/\s+/).length);
}
