import { DEPLOY_BINDINGS } from '../sdk/deploy-facts.ts';
import { GLOBAL_LIFECYCLE_BINDINGS, type HookConfig, MODULE_LIFECYCLE_BINDINGS } from './hook-config.ts';
import type { ConfigDocument } from './hook-config-document.ts';

const NAMES = new Set([...GLOBAL_LIFECYCLE_BINDINGS, ...MODULE_LIFECYCLE_BINDINGS, ...DEPLOY_BINDINGS]);

/** The order numbers in a checked configuration. */
export function lifecycleOrders(document: ConfigDocument): HookConfig['lifecycle'] {
  return Object.fromEntries(
    [...NAMES].flatMap((name) => {
      const order = document[name];
      return typeof order === 'number' ? [[name, order]] : [];
    }),
  );
}
