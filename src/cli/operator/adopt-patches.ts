import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { canonicalJson, isObject, parseJson } from '@addon-operator/json';
import type { Inspection } from '../../plan/inspection.ts';
import { requestDebug } from '../../server/debug-client.ts';
import { GLOBAL_SECTION, type ModuleName, type ValuesOwner } from '../../values/module-key.ts';
import { parseValuesPatch, type ValuesOperation } from '../../values/values-patch.ts';

/** How to reach the running daemon. */
export interface DaemonAddress {
  readonly socketPath: string;
  readonly clock: SteadyClock;
}

/**
 * Changes the values of an inspection as hooks have changed those of the daemon at work, so that charts render as they
 * do there; nothing where no daemon answers. Returns what could not be taken over, in words.
 */
export async function adoptPatches(
  { operator }: Inspection,
  modules: readonly ModuleName[],
  daemon: DaemonAddress,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const owner of [GLOBAL_SECTION, ...modules] as const) {
    try {
      operator.values.applyPatch(owner, await patchesOf(owner, daemon, signal));
    } catch (error) {
      if (hasCode(error, 'DEBUG_SOCKET')) return problems;
      signal.throwIfAborted();
      problems.push(`changes that hooks made to the values of ${owner} are left out: ${messageOf(error)}`);
    }
  }
  return problems;
}

/** None of a module that the daemon does not have. */
async function patchesOf(
  owner: ValuesOwner,
  { socketPath, clock }: DaemonAddress,
  signal: AbortSignal,
): Promise<readonly ValuesOperation[]> {
  const path = `${owner === GLOBAL_SECTION ? '/global' : `/module/${owner}`}/patches.json`;
  const { status, body } = await requestDebug({ socketPath, path }, clock, signal);
  const patches: unknown = status === 200 ? parseJson(body) : [];
  const operations = Array.isArray(patches) ? patches.filter(isObject).flatMap(operationsOf) : [];
  return parseValuesPatch(canonicalJson(operations), 'values', owner);
}

function operationsOf({ Operations: operations }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(operations) ? operations : [];
}
