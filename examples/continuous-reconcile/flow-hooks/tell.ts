import { defineFlowHooks, type FlowHookSetup } from 'addon-operator/sdk';

/** Tells what each run and deletion of a module came to. */
export const tell: FlowHookSetup = {
  hookTypes: ['End'],
  hook: ({ module, error, log }) => {
    if (error === undefined) log.info(`${module?.name}: ${module?.phase}`);
    else log.warn(`${module?.name}: ${error}`);
    return undefined;
  },
};

export default defineFlowHooks((hooks) => hooks.registerHookSetup(tell));
