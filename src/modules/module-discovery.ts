// Decides which modules are enabled. `discoverModules` asks the sources in the order of precedence
// (flags of values files, global hooks, the ConfigMap, then the enabled script), and afterwards
// applies what overrides them: requirements, the deletion policy, authorization and lost files.
// `module-hooks.ts` calls it for each converge, `reconcile/discover-modules.ts` stores the result.

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { headlineOf, withRemark } from '@addon-operator/strings/headline';
import type { ModuleName } from '../values/module-key.ts';
import {
  type Decision,
  defaultDecision,
  type Extender,
  fileOf,
  type ModuleFlags,
  opinionOf,
  removalDecision,
  type SourceResponse,
} from './enablement.ts';
import type { Module } from './module.ts';
import { unmetRequirement } from './requirements.ts';

/** The response of an enabled script. */
export interface ScriptVerdict {
  readonly isEnabled: boolean;
  /** The reason for disabling the module; may be empty. */
  readonly reason: string;
}

/**
 * Runs the enabled script of one module.
 *
 * @param enabledBefore the modules enabled before this one in the same pass, in run order
 */
export type EnabledScript = (
  module: Module,
  enabledBefore: readonly ModuleName[],
  signal: AbortSignal,
) => Promise<ScriptVerdict>;

export interface DiscoveryInput {
  /** All known modules, in run order. */
  readonly modules: readonly Module[];
  readonly flags: ModuleFlags;
  readonly extenders: readonly Extender[];
  /**
   * Modules that run or have a release; with the deletion policy `protect` they stay enabled.
   * Default: none.
   */
  readonly deployed?: ReadonlySet<ModuleName>;
  /** The version of the cluster; undefined if no module requires one. */
  readonly kubernetes?: string | undefined;
  /**
   * The modules that were enabled before. A module whose script fails keeps that state. Absent: a
   * failing script ends the pass.
   */
  readonly lastEnabled?: ReadonlySet<ModuleName> | undefined;
  /** Called for each enabled module, before the scripts of later modules run. */
  readonly onEnabled?: (module: Module) => void;
}

/** The result of one complete pass over all modules. */
export interface ModuleDiscovery {
  /** In run order. */
  readonly enabled: readonly ModuleName[];
  /** One for every known module. */
  readonly decisions: ReadonlyMap<ModuleName, Decision>;
  /**
   * The opinion of each source about a module, in the order of precedence; absent where it is not
   * kept.
   */
  readonly responses?: ReadonlyMap<ModuleName, readonly SourceResponse[]>;
  /** The version of the cluster; absent if no module requires one. */
  readonly kubernetes?: string | undefined;
  /** Modules that stay as they are because their scripts failed, with the reason; absent: none. */
  readonly undecided?: ReadonlyMap<ModuleName, string>;
}

/**
 * Decides about every module, in run order. It has no state: the caller keeps the previous result
 * if this call fails.
 *
 * @throws OperatorError DISCOVERY_FAILED if a script fails and that concerns all modules
 * @throws `signal.reason` on abort
 */
export async function discoverModules(
  input: DiscoveryInput,
  runScript: EnabledScript,
  signal: AbortSignal,
): Promise<ModuleDiscovery> {
  const enabled = new Set<ModuleName>();
  const decisions = new Map<ModuleName, Decision>();
  const responses = new Map<ModuleName, readonly SourceResponse[]>();
  const undecided = new Map<ModuleName, string>();
  const modules = new Map(input.modules.map((module) => [module.name, module]));
  for (const module of input.modules) {
    const facts = { ...input, modules, enabled, undecided };
    // In a cycle some required module is never enabled yet: that is not the problem to report.
    const unmet = module.refusal?.type === 'cycle' ? undefined : unmetRequirement(module, facts);
    const outcomeOf = (): Promise<ScriptOutcome> =>
      outcomeOfScript(module, [...enabled], runScript, input.lastEnabled, signal);
    // A module that cannot run needs no script, whose file may be lost as well.
    const isScriptRun = unmet === undefined && module.refusal?.type !== 'gone';
    const wanted = await decide(module, input, isScriptRun ? outcomeOf : undefined);
    responses.set(module.name, wanted.responses);
    const permitted = protect(module, restrict(wanted.decision, unmet), input.deployed);
    const decision = refuse(module, permitted, input.deployed);
    decisions.set(module.name, decision);
    const failure = decision.source === 'enabled-script-failure' ? wanted.failure : undefined;
    if (failure !== undefined) undecided.set(module.name, failure);
    if (!decision.isEnabled) continue;
    enabled.add(module.name);
    if (module.refusal === undefined && failure === undefined) input.onEnabled?.(module);
  }
  return { enabled: [...enabled], decisions, responses, undecided, kubernetes: input.kubernetes };
}

/**
 * The outcome of a module's script. With `failure`, which concerns only this module, it is the
 * state to keep.
 */
type ScriptOutcome = ScriptVerdict & { readonly failure?: string };

interface Wanted {
  readonly decision: Decision;
  readonly responses: readonly SourceResponse[];
  /** The failure of the script. */
  readonly failure?: string | undefined;
}

/** @param outcomeOf undefined if the script must not run */
async function decide(
  module: Module,
  { flags, extenders }: DiscoveryInput,
  outcomeOf: (() => Promise<ScriptOutcome>) | undefined,
): Promise<Wanted> {
  let decision = defaultDecision(module);
  let failure: string | undefined;
  const responses: SourceResponse[] = [];
  const removal = removalDecision(module);
  if (removal !== undefined) return { decision: removal, responses };
  for (const extender of extenders) {
    const opinion = opinionOf(extender, module, flags, decision);
    const file = fileOf(extender, module, flags);
    switch (opinion.type) {
      case 'none':
        responses.push({ extender, file, isEnabled: null, reason: '' });
        break;
      case 'flag':
        decision = opinion.decision;
        responses.push({ extender, file, isEnabled: decision.isEnabled, reason: decision.reason });
        break;
      case 'run-script': {
        const outcome = await outcomeOf?.();
        ({ failure } = outcome ?? {});
        // A script that was not run leaves the flags' decision: the reasons for not running it are
        // applied later.
        if (outcome !== undefined) decision = afterScript(decision, outcome);
        const isEnabled = failure === undefined ? (outcome?.isEnabled ?? null) : null;
        const reason = outcome === undefined || isEnabled === true ? '' : decision.reason;
        responses.push({ extender, file, isEnabled, reason });
        break;
      }
    }
  }
  return { decision, responses, failure };
}

function restrict(decision: Decision, unmet: string | undefined): Decision {
  if (!decision.isEnabled || unmet === undefined) return decision;
  return { isEnabled: false, source: 'requirement', reason: unmet };
}

function protect(
  { name, manifest }: Module,
  decision: Decision,
  deployed: ReadonlySet<ModuleName> = new Set(),
): Decision {
  if (decision.isEnabled || decision.source === 'enabled-script-failure') return decision;
  if (manifest.deletionPolicy !== 'protect' || !deployed.has(name)) return decision;
  return {
    isEnabled: true,
    source: 'deletion-policy',
    reason: `deletionPolicy of the module is protect, so it is not deleted although ${decision.reason}`,
  };
}

/**
 * A refused module counts as enabled if it is deployed, or if flags enable it: its objects stay.
 * Its own files say nothing reliable, unless only one of them is invalid.
 */
function refuse(
  { name, refusal, loadedValues }: Module,
  decision: Decision,
  deployed: ReadonlySet<ModuleName> = new Set(),
): Decision {
  if (refusal === undefined) return decision;
  const { type, reason } = refusal;
  const isDeployed = deployed.has(name);
  switch (type) {
    case 'unauthorized':
      if (isDeployed)
        return {
          isEnabled: true,
          source: 'authorization',
          reason: `not authorized, so it is not changed: ${reason}`,
        };
      if (!decision.isEnabled && decision.source !== 'default') return decision;
      return { isEnabled: decision.isEnabled, source: 'authorization', reason: `not authorized: ${reason}` };
    case 'gone':
      return { isEnabled: isDeployed || decision.isEnabled, source: 'files', reason };
    case 'invalid':
    case 'cycle':
      if (isDeployed || decision.isEnabled) return { isEnabled: true, source: 'files', reason };
      // Its values.yaml could not be read, so its flag is unknown.
      return decision.source === 'default' && loadedValues === undefined
        ? { isEnabled: false, source: 'files', reason }
        : decision;
  }
}

async function outcomeOfScript(
  module: Module,
  enabledBefore: readonly ModuleName[],
  runScript: EnabledScript,
  lastEnabled: DiscoveryInput['lastEnabled'],
  signal: AbortSignal,
): Promise<ScriptOutcome> {
  try {
    return await runScript(module, enabledBefore, signal);
  } catch (cause) {
    signal.throwIfAborted();
    const { enabledScript: file = '', name } = module;
    const message = messageOf(cause);
    if (lastEnabled !== undefined)
      return {
        isEnabled: lastEnabled.has(name),
        reason: '',
        failure: `its enabled script ${file} failed: ${message}`,
      };
    throw new OperatorError(
      'DISCOVERY_FAILED',
      withRemark(
        `the enabled script of module '${name}' failed: ${message}`,
        `; no module is enabled, disabled or run until it succeeds: fix ${file}, it is retried`,
      ),
      { cause, facts: { file } },
    );
  }
}

function afterScript(decision: Decision, { isEnabled, reason, failure }: ScriptOutcome): Decision {
  if (failure !== undefined)
    return { isEnabled, source: 'enabled-script-failure', reason: headlineOf(failure) };
  if (isEnabled) return decision;
  return {
    isEnabled: false,
    source: 'enabled-script',
    reason: reason === '' ? 'the enabled script returned false' : reason,
  };
}
