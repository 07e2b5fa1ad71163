import { defineHook } from 'addon-operator/sdk';

/** Says which module is not authorized, and counts how often that happened. */
export default defineHook({ afterAuthFail: 1 }, ({ contexts, metrics }) => {
  for (const { module, authorization } of contexts) {
    console.log(`${module.name} is refused: ${authorization.reason}`);
    metrics.add('refusals_total', 1, { module: module.name });
  }
});
