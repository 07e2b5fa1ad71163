import {
  type ExtensionDefinition,
  type ExtensionMethod,
  extensionDefinition,
} from './extension-definition.ts';
import { type FlowHook, type FlowHookInput, FlowHooks } from './flow-hooks.ts';

/** The `type` of definitions made here. */
export const FLOW_HOOKS = 'flow-hooks';

/** The message of the daemon to a hook. Parts that JSON cannot express are added in the thread of the hook. */
export type FlowHookCall = Pick<FlowHookInput, 'type' | 'module' | 'target' | 'error'>;

/**
 * Registers flow hooks, to be the default export of a file in the directory of flow hooks.
 *
 * @param setup is called once, when the file is loaded; later nothing can be registered any more
 * @throws TypeError when `setup` is asynchronous; what `setup` throws
 */
export function defineFlowHooks(setup: (hooks: FlowHooks) => unknown): ExtensionDefinition {
  const hooks = new FlowHooks();
  const returned = setup(hooks);
  hooks.seal();
  if (returned instanceof Promise)
    throw new TypeError(
      'defineFlowHooks(): hooks must be registered synchronously, not by an async function',
    );
  return extensionDefinition({
    type: FLOW_HOOKS,
    description: { hooks: hooks.entries.map(({ types }) => ({ types })) },
    methods: Object.fromEntries(hooks.entries.map(({ hook }, index) => [String(index), methodOf(hook)])),
  });
}

function methodOf(hook: FlowHook): ExtensionMethod {
  return ({ args: [call], log, signal }) => {
    // What travels between daemon and thread is made by the daemon, as its type says.
    const { type, module, target, error } = call as unknown as FlowHookCall;
    return hook({ type, module, target, error, log, signal });
  };
}
