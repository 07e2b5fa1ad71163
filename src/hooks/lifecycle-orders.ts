import type { HookConfig, LifecycleBinding } from './hook-config.ts';
import type { ConfigDocument } from './hook-config-document.ts';

const NAMES: readonly LifecycleBinding[] = [
  'onStartup',
  'beforeAll',
  'afterAll',
  'beforeHelm',
  'afterHelm',
  'beforeDeleteHelm',
  'afterDeleteHelm',
];

/** The order numbers in a checked configuration. */
export function lifecycleOrders(document: ConfigDocument): HookConfig['lifecycle'] {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const order = document[name];
      return typeof order === 'number' ? [[name, order]] : [];
    }),
  );
}
