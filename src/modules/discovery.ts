import { messageOf, OperatorError } from '../lib/errors.ts';
import type { ModuleName } from '../values/module-key.ts';
import {
  type Decision,
  DISABLED_BY_DEFAULT,
  type Extender,
  type ModuleFlags,
  opinionOf,
} from './enablement.ts';
import type { Module } from './module.ts';

/** What an enabled script wrote. */
export interface ScriptVerdict {
  readonly isEnabled: boolean;
  /** Why it disables the module; empty when it says nothing. */
  readonly reason: string;
}

/**
 * Runs the enabled script of one module.
 *
 * @param enabledBefore the modules found enabled before this one in the same pass, in run order
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
}

/** The outcome of one complete pass over all modules. */
export interface Discovery {
  /** In run order. */
  readonly enabled: readonly ModuleName[];
  /** One for every known module. */
  readonly decisions: ReadonlyMap<ModuleName, Decision>;
}

/**
 * Decides about every module, in run order. Nothing is remembered: whoever calls keeps the previous outcome when this
 * one fails.
 *
 * @throws OperatorError DISCOVERY_FAILED when an enabled script fails: no decision can be trusted then
 * @throws `signal.reason` on abort
 */
export async function discoverModules(
  input: DiscoveryInput,
  runScript: EnabledScript,
  signal: AbortSignal,
): Promise<Discovery> {
  const enabled: ModuleName[] = [];
  const decisions = new Map<ModuleName, Decision>();
  for (const module of input.modules) {
    const decision = await decide(module, input, enabled, runScript, signal);
    decisions.set(module.name, decision);
    if (decision.isEnabled) enabled.push(module.name);
  }
  return { enabled, decisions };
}

async function decide(
  module: Module,
  { flags, extenders }: DiscoveryInput,
  enabledBefore: readonly ModuleName[],
  runScript: EnabledScript,
  signal: AbortSignal,
): Promise<Decision> {
  let decision = DISABLED_BY_DEFAULT;
  for (const extender of extenders) {
    const opinion = opinionOf(extender, module, flags, decision);
    switch (opinion.type) {
      case 'none':
        break;
      case 'flag':
        decision = opinion.decision;
        break;
      case 'ask-script': {
        const verdict = await askScript(module, enabledBefore, runScript, signal);
        if (!verdict.isEnabled) decision = disabledByScript(verdict);
        break;
      }
    }
  }
  return decision;
}

async function askScript(
  module: Module,
  enabledBefore: readonly ModuleName[],
  runScript: EnabledScript,
  signal: AbortSignal,
): Promise<ScriptVerdict> {
  try {
    return await runScript(module, [...enabledBefore], signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new OperatorError(
      'DISCOVERY_FAILED',
      "couldn't recalculate graph: 1 error occurred:\n\t* ScriptEnabled extender failed to filter " +
        `${module.name} module: failed to execute '${module.name}' module's enabled script: ${messageOf(cause)}`,
      { cause },
    );
  }
}

function disabledByScript(verdict: ScriptVerdict): Decision {
  const reason = verdict.reason === '' ? 'the enabled script says false' : verdict.reason;
  return { isEnabled: false, source: 'enabled-script', reason };
}
