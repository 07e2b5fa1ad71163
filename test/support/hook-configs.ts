import { hasCode } from '@addon-operator/base/errors';
import { parseCrontab } from '@addon-operator/crontab';
import type { HookScope } from '../../src/hook-config/binding-kinds.ts';
import type { HookConfig } from '../../src/hook-config/hook-config.ts';
import { HookConfigParser } from '../../src/hook-config/parse-hook-config.ts';

export { NO_BINDINGS } from '../../src/hook-config/hook-config.ts';

const parser = new HookConfigParser({
  crontab: (expression) => {
    parseCrontab(expression);
  },
  jqFilter: async (program) => {
    if (program.includes('[') && !program.includes(']')) throw new Error('unexpected end of program');
  },
});

/** Parses what a hook prints; an object is printed as JSON. */
export const parse = (config: object | string, scope: HookScope = 'module'): Promise<HookConfig> =>
  parser.parse(typeof config === 'string' ? config : JSON.stringify(config), scope);

/** Parses a v1 configuration, given without its version. */
export const v1 = (config: object, scope: HookScope = 'module'): Promise<HookConfig> =>
  parse({ configVersion: 'v1', ...config }, scope);

/** Parses a conversion from `v1` to `acme.io/v2` beside two kubernetes bindings, `nodes` of them in the group `g`. */
export const conversion = (fields: object): Promise<HookConfig> =>
  v1({
    kubernetes: [
      { kind: 'Pod', name: 'pods' },
      { kind: 'Node', name: 'nodes', group: 'g' },
    ],
    kubernetesCustomResourceConversion: [
      {
        name: 'conv',
        crdName: 'boxes.acme.io',
        conversions: [{ fromVersion: 'v1', toVersion: 'acme.io/v2' }],
        ...fields,
      },
    ],
  });

/** Why a configuration was refused; fails for one that was accepted. */
export async function problemIn(parsing: Promise<unknown>): Promise<string> {
  const error = await parsing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!hasCode(error, 'HOOK_CONFIG_INVALID')) throw new Error(`accepted, or failed with ${String(error)}`);
  return error.message;
}
