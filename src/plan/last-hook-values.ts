/** Restores values that hooks set before the last deployment, from notes in the helm releases. */

import type { NotedRelease } from '@addon-operator/helm/noted-release';
import type { Hook } from '../hooks/hook.ts';
import { type PatchedPath, parseSetByHooks, patchesAgain } from '../reconcile/set-by-hooks.ts';
import { GLOBAL_SECTION, type ModuleName, type ValuesOwner } from '../values/module-key.ts';
import type { Inspection } from './inspection.ts';
import { runsBeforeHelm } from './plan.ts';

/** Values that hooks set before the last deployments. A plan does not run hooks: it assumes that they set the same again. */
export class LastHookValues {
  readonly #operator: Inspection['operator'];
  readonly #noted: readonly NotedRelease[];

  private constructor(operator: Inspection['operator'], noted: readonly NotedRelease[]) {
    this.#operator = operator;
    this.#noted = noted;
  }

  /** @throws what the API client throws */
  static async read({ operator, base }: Inspection, signal: AbortSignal): Promise<LastHookValues> {
    return new LastHookValues(operator, await base.helm.notedReleases(signal));
  }

  /**
   * Sets global values and flags as they were at the last deployment of any module.
   *
   * @param hooks all global hooks; what others set is left out, and what these set after helm has run
   * @throws OperatorError VALUES_INVALID when that cannot be applied to the values any more
   */
  async setGlobals(hooks: readonly Hook[], signal: AbortSignal): Promise<void> {
    const isRun = runIn(hooks);
    const [latest] = this.#noted;
    if (latest === undefined) return;
    const { global, flags } = parseSetByHooks(latest.note);
    for (const flag of flags) if (isRun(flag.hook)) this.#operator.dynamicFlags.apply([flag], flag.hook);
    await this.#set(GLOBAL_SECTION, latest, global, isRun, signal);
  }

  /**
   * Sets the values of a module as they were at its own last deployment.
   *
   * @param hooks all module hooks, as for {@link setGlobals}
   * @throws OperatorError VALUES_INVALID as there
   */
  async setModule(module: ModuleName, hooks: readonly Hook[], signal: AbortSignal): Promise<void> {
    const noted = this.#noted.find(({ release }) => release === module);
    if (noted === undefined) return;
    await this.#set(module, noted, parseSetByHooks(noted.note).module, runIn(hooks), signal);
  }

  async #set(
    owner: ValuesOwner,
    noted: NotedRelease,
    paths: readonly PatchedPath[],
    isRun: (hook: string) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    if (!paths.some(({ hook }) => isRun(hook))) return;
    const values = await noted.values(signal);
    if (values !== undefined) this.#operator.values.setPatches(owner, patchesAgain(paths, values, isRun));
  }
}

function runIn(hooks: readonly Hook[]): (hook: string) => boolean {
  const names = new Set(hooks.filter(runsBeforeHelm).map(({ name }) => name));
  return (hook) => names.has(hook);
}
