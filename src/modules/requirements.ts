import coerce from 'semver/functions/coerce.js';
import satisfies from 'semver/functions/satisfies.js';
import subset from 'semver/ranges/subset.js';
import type { ModuleName } from '../values/module-key.ts';
import type { Hold, Module } from './module.ts';
import type { Requirement } from './requirement.ts';

/** The facts about other modules that requirements are checked with. */
interface RequirementFacts {
  readonly modules: Pick<ReadonlyMap<ModuleName, Pick<Module, 'version' | 'refusal'>>, 'get'>;
  readonly enabled: Pick<ReadonlySet<ModuleName>, 'has'>;
  /** Modules that run or have a release. Default: none. */
  readonly deployed?: ReadonlySet<ModuleName> | undefined;
  /** The version of the cluster, such as `v1.34.2`; undefined if unknown. */
  readonly kubernetes?: string | undefined;
  /** Modules whose enabled scripts failed, so that they stay as they are. Default: none. */
  readonly undecided?: Pick<ReadonlySet<ModuleName>, 'has'> | undefined;
}

/** Why a requirement is not met. */
export interface UnmetRequirement {
  readonly type: 'absent' | 'disabled' | 'unauthorized' | 'held' | 'version-unknown' | 'version';
  /** Completes a sentence with the module as subject. */
  readonly text: string;
}

/**
 * Why a module cannot be enabled; undefined if its requirements, and that of the Kubernetes
 * version, are met. An optional requirement counts only while that module is enabled.
 */
export function unmetRequirement(module: Requiring, facts: RequirementFacts): string | undefined {
  for (const { name } of module.manifest.requires) {
    const unmet = unmetOf(module, name, facts);
    if (unmet !== undefined) return unmet.text;
  }
  return unmetKubernetes(module, facts);
}

/** A deployed module must not be deleted because the cluster was upgraded. */
function unmetKubernetes(
  { name, manifest: { kubernetes: range } }: Requiring,
  { kubernetes, deployed }: RequirementFacts,
): string | undefined {
  if (range === undefined || kubernetes === undefined || deployed?.has(name) === true) return undefined;
  // Distributions append their own name to the version.
  const version = coerce(kubernetes);
  if (version === null || satisfies(version, range)) return undefined;
  return `requires Kubernetes ${range}, but the cluster has ${kubernetes}`;
}

const REFUSED: Readonly<Record<Hold['type'], string>> = {
  unauthorized: 'is not authorized',
  gone: 'is held because its files are gone',
  invalid: 'has a file that cannot be used',
  cycle: 'is part of a cycle of requirements',
  undecided: 'is held because its enabled script fails',
};
type Requiring = Pick<Module, 'name' | 'manifest'>;

/**
 * Why one required module prevents this one from being enabled; undefined if it does not. A
 * deployed module is not deleted because a required one is not authorized, or held.
 */
export function unmetOf(
  { name, manifest }: Requiring,
  required: ModuleName,
  facts: RequirementFacts,
): UnmetRequirement | undefined {
  const requirement = manifest.requires.find((other) => other.name === required);
  if (requirement === undefined) return undefined;
  if (facts.deployed?.has(name) === true && refusalOf(required, facts) !== undefined) return undefined;
  return problemWith(requirement, facts);
}

function refusalOf(name: ModuleName, { modules, undecided }: RequirementFacts): Hold['type'] | undefined {
  return modules.get(name)?.refusal?.type ?? (undecided?.has(name) === true ? 'undecided' : undefined);
}

function problemWith(
  { name, version: range, isOptional }: Requirement,
  facts: RequirementFacts,
): UnmetRequirement | undefined {
  const { modules, enabled } = facts;
  const other = modules.get(name);
  const refusal = refusalOf(name, facts);
  const unlessOptional = (type: UnmetRequirement['type'], what: string): UnmetRequirement | undefined =>
    isOptional ? undefined : { type, text: `requires module ${name}, which ${what}` };
  if (other === undefined) return unlessOptional('absent', 'does not exist');
  if (!enabled.has(name))
    return refusal === 'undecided'
      ? unlessOptional('held', REFUSED[refusal])
      : unlessOptional('disabled', 'is disabled');
  if (refusal !== undefined && facts.deployed?.has(name) !== true)
    return unlessOptional(refusal === 'unauthorized' ? 'unauthorized' : 'held', REFUSED[refusal]);
  if (range === undefined) return undefined;
  const wanted = `requires module ${name} in version ${range}`;
  // Without a known version only a range that every version satisfies is met.
  if (other.version === undefined && !subset('*', range))
    return {
      type: 'version-unknown',
      text: `${wanted}, but its version is unknown: set it in module.yaml or Chart.yaml`,
    };
  if (other.version === undefined || satisfies(other.version, range, { includePrerelease: true }))
    return undefined;
  return { type: 'version', text: `${wanted}, but it has version ${other.version}` };
}
