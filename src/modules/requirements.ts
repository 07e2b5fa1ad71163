import satisfies from 'semver/functions/satisfies.js';
import type { ModuleName } from '../values/module-key.ts';
import type { Module, Refusal } from './module.ts';
import type { Requirement } from './module-manifest.ts';

/** What is known about the other modules when a module is decided about. */
interface RequirementFacts {
  readonly modules: ReadonlyMap<ModuleName, Pick<Module, 'version' | 'refusal'>>;
  readonly enabled: ReadonlySet<ModuleName>;
  /** Modules that run or have a release. Default: none. */
  readonly deployed?: ReadonlySet<ModuleName> | undefined;
}

/**
 * Why a module cannot be enabled although it shall be; undefined when all it requires is there. A module that is
 * required optionally counts only when it is enabled.
 */
export function unmetRequirement(
  { manifest }: Pick<Module, 'manifest'>,
  facts: RequirementFacts,
): string | undefined {
  for (const requirement of manifest.requires) {
    const problem = problemWith(requirement, facts);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const REFUSED: Readonly<Record<Refusal['type'], string>> = {
  unauthorized: 'is not authorized',
  gone: 'is held because its files are gone',
  invalid: 'has a file that cannot be used',
};

function problemWith(
  { name, version: range, isOptional }: Requirement,
  { modules, enabled, deployed }: RequirementFacts,
): string | undefined {
  const other = modules.get(name);
  if (other === undefined) return isOptional ? undefined : `requires module ${name}, which does not exist`;
  if (!enabled.has(name)) return isOptional ? undefined : `requires module ${name}, which is disabled`;
  if (other.refusal !== undefined && deployed?.has(name) !== true)
    return isOptional ? undefined : `requires module ${name}, which ${REFUSED[other.refusal.type]}`;
  if (range === undefined) return undefined;
  if (other.version === undefined)
    return `requires module ${name} in version ${range}, but its version is unknown: set it in module.yaml or Chart.yaml`;
  if (satisfies(other.version, range, { includePrerelease: true })) return undefined;
  return `requires module ${name} in version ${range}, but it has version ${other.version}`;
}
