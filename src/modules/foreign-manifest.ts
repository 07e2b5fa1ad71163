import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import validRange from 'semver/ranges/valid.js';
import type { ModuleName } from '../values/module-key.ts';
import { parseModuleName } from './module-name.ts';
import type { Requirement } from './requirement.ts';

/** The author's description of a module, for display only. */
export interface ModuleAbout {
  readonly description?: string;
  readonly stage?: string;
  readonly tags?: readonly string[];
  readonly namespace?: string;
  readonly isCritical?: boolean;
  /** A warning to show before the module is disabled. */
  readonly disableMessage?: string;
}

/** The keys of a `module.yaml` for Deckhouse, as far as they have a meaning here. */
export interface ForeignManifest {
  /** The order of a module without a number in its directory's name. */
  readonly weight: number | undefined;
  /** The range of Kubernetes versions. */
  readonly kubernetes: string | undefined;
  readonly requires: readonly Requirement[];
  readonly about: ModuleAbout;
}

const SHOWN_KEYS = [
  'name',
  'weight',
  'requirements',
  'stage',
  'description',
  'descriptions',
  'tags',
  'namespace',
  'critical',
  'disable',
];
/** Keys about editions, updates and licences of Deckhouse. */
const IGNORED_KEYS = ['accessibility', 'update', 'subsystems', 'exclusiveGroup', 'conditions'];
const IGNORED_REQUIREMENTS = ['deckhouse', 'bootstrapped'];

/** Known keys of Deckhouse, which are no mistake. */
export const FOREIGN_KEYS: readonly string[] = [...SHOWN_KEYS, ...IGNORED_KEYS];

/** Deckhouse's notation behind a range of versions. */
const OPTIONAL = /\s*!optional\s*$/;
const MAX_WEIGHT = 2 ** 31 - 1;

/**
 * Reads these keys. An invalid value counts as absent, with a sentence in `remarks`: a module for
 * another operator must not be refused for it.
 */
export function readForeign(content: JsonObject, module: string, remarks: string[]): ForeignManifest {
  const reader = new ForeignReader(content, '', remarks);
  const name = reader.string('name');
  if (name !== undefined && name !== module)
    remarks.push(`name: ${JSON.stringify(name)} is ignored, the directory names the module ${module}`);
  const requirements = reader.map('requirements');
  for (const key of Object.keys(requirements.content))
    if (!['modules', 'kubernetes', ...IGNORED_REQUIREMENTS].includes(key))
      remarks.push(`requirements.${key}: unknown requirement, it is not checked`);
  return {
    weight: reader.weight(),
    kubernetes: requirements.range('kubernetes')?.range,
    requires: requirementsOf(requirements.map('modules'), module, remarks),
    about: aboutOf(reader),
  };
}

function aboutOf(reader: ForeignReader): ModuleAbout {
  const descriptions = reader.map('descriptions');
  const description = reader.string('description') ?? descriptions.string('en') ?? descriptions.firstString();
  const stage = reader.string('stage');
  const tags = reader.strings('tags');
  const namespace = reader.string('namespace');
  const disableMessage = reader.map('disable').string('message');
  return {
    ...(description !== undefined && { description }),
    ...(stage !== undefined && { stage }),
    ...(tags.length > 0 && { tags }),
    ...(namespace !== undefined && { namespace }),
    ...(reader.flag('critical') && { isCritical: true }),
    ...(disableMessage !== undefined && { disableMessage }),
  };
}

function requirementsOf(modules: ForeignReader, module: string, remarks: string[]): readonly Requirement[] {
  return Object.keys(modules.content).flatMap((key) => {
    const found = modules.range(key);
    if (key === module) return [];
    const name = nameOf(key, remarks);
    if (name === undefined) return [];
    return [{ name, version: found?.range, isOptional: found?.isOptional === true }];
  });
}

function nameOf(value: string, remarks: string[]): ModuleName | undefined {
  try {
    return parseModuleName(value);
  } catch {
    remarks.push(`requirements.modules.${value}: this cannot be the name of a module, it is ignored`);
    return undefined;
  }
}

/** Reads fields of a map; a field of the wrong type is absent, with a remark. */
class ForeignReader {
  readonly content: JsonObject;
  readonly #at: string;
  readonly #remarks: string[];

  constructor(content: JsonObject, at: string, remarks: string[]) {
    this.content = content;
    this.#at = at;
    this.#remarks = remarks;
  }

  string(key: string): string | undefined {
    return this.#read(key, 'a string', (value) => (typeof value === 'string' ? value : undefined));
  }

  firstString(): string | undefined {
    return Object.values(this.content).find((value) => typeof value === 'string');
  }

  strings(key: string): readonly string[] {
    const strings = this.#read(key, 'a list of strings', (value) =>
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined,
    );
    return strings ?? [];
  }

  flag(key: string): boolean {
    return (
      this.#read(key, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined)) === true
    );
  }

  map(key: string): ForeignReader {
    const map = this.#read(key, 'a map', (value) => (isJsonMap(value) ? value : undefined));
    return new ForeignReader(map ?? {}, `${this.#at}${key}.`, this.#remarks);
  }

  /** As in Deckhouse, 0 means none. */
  weight(): number | undefined {
    const isWeight = (value: Json): value is number =>
      typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_WEIGHT;
    const weight = this.#read('weight', `a whole number from 0 to ${MAX_WEIGHT}`, (value) =>
      isWeight(value) ? value : undefined,
    );
    return weight === 0 ? undefined : weight;
  }

  range(key: string): { readonly range: string | undefined; readonly isOptional: boolean } | undefined {
    return this.#read(key, 'a range of versions, such as ">= 1.2"', (value) => {
      if (typeof value !== 'string') return undefined;
      const written = value.replace(OPTIONAL, '').trim();
      const range = written === '' ? undefined : npmRange(written);
      if (written !== '' && range === undefined) return undefined;
      return { range, isOptional: OPTIONAL.test(value) };
    });
  }

  #read<T>(key: string, expected: string, parse: (value: Json) => T | undefined): T | undefined {
    const value = (Object.hasOwn(this.content, key) ? this.content[key] : null) ?? null;
    if (value === null) return undefined;
    const parsed = parse(value);
    if (parsed === undefined)
      this.#remarks.push(
        `${this.#at}${key}: expected ${expected}, got ${JSON.stringify(value)}; it is ignored`,
      );
    return parsed;
  }
}

const COMPARATOR = /[\s,]*(?<operator>!=|=>|=<|>=|<=|~>|[><=~^])?\s*(?<version>[^\s,]+)/g;

/**
 * Converts a range in the syntax of the Go library semver to npm's; undefined if it is invalid. In
 * Go's syntax a comma also means "and", and `!=` excludes a version.
 */
export function npmRange(value: string): string | undefined {
  const alternatives = value
    .split('||')
    .map((part) => (/\s-\s/.test(part) ? part.trim() : comparators(part)));
  const range = alternatives.join(' || ');
  return validRange(range) === null ? undefined : range;
}

function comparators(part: string): string {
  let ranges: readonly string[] = [''];
  for (const { groups } of part.matchAll(COMPARATOR)) {
    const { operator = '', version = '' } = groups ?? {};
    const forms = operator === '!=' ? [`<${version}`, `>${version}`] : [`${npmOperator(operator)}${version}`];
    ranges = ranges.flatMap((range) => forms.map((form) => `${range} ${form}`.trim()));
  }
  return ranges.join(' || ');
}

function npmOperator(operator: string): string {
  if (operator === '=>') return '>=';
  return operator === '=<' ? '<=' : operator;
}
