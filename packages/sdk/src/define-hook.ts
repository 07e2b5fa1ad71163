import type { HookConfig } from './hook-config-types.ts';
import type { HookHandler } from './hook-input.ts';

/** The same symbol in every copy of this file, so that the daemon knows hooks made with a copy of the author's. */
const MARK = Symbol.for('addon-operator.hook');

/** A hook of a `.ts`, `.mts`, `.js` or `.mjs` file; its file exports it as the default. */
export interface HookDefinition<C extends HookConfig = HookConfig> {
  readonly config: C;
  readonly handler: HookHandler<C>;
}

/** No other keys than those of a configuration; what is wrong further down is found when the hook is loaded. */
type Known<C> = { readonly [K in Exclude<keyof C, keyof HookConfig>]: never };

/**
 * Makes a hook that runs without a process of its own.
 *
 * @param config when it is run; checked by the same rules as what an executable returns for `--config`
 * @param handler called once for each run; the run fails when it throws or rejects
 */
export function defineHook<const C extends HookConfig>(
  config: C & Known<C>,
  handler: HookHandler<C>,
): HookDefinition<C> {
  if (typeof config !== 'object' || config === null)
    throw new TypeError('defineHook(): the first argument must be the configuration of the hook');
  if (typeof handler !== 'function')
    throw new TypeError('defineHook(): the second argument must be the function that handles a run');
  return Object.freeze({ [MARK]: true, config, handler });
}

/** Whether something was made by {@link defineHook}. */
export function isHookDefinition(value: unknown): value is HookDefinition {
  return typeof value === 'object' && value !== null && MARK in value;
}
