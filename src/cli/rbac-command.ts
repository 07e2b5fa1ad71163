import { dump } from 'js-yaml';
import { inspect } from '../daemon/inspect.ts';
import { neededAccess } from '../daemon/needed-access.ts';
import type { Clock } from '../lib/clock.ts';
import { hasCode } from '../lib/errors.ts';
import { isObject, parseJson } from '../lib/json.ts';
import { type Access, accessOfRules, policyRules } from '../modules/access/policy-rules.ts';
import { requestDebug } from '../server/debug-client.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { Settings } from '../settings.ts';
import { type CliHost, fail } from './cli-host.ts';
import { quietHost } from './quiet-host.ts';

export interface RbacOptions {
  /** Values given on the command line, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Names of modules; none for all. */
  readonly modules: readonly string[];
  readonly format: 'yaml' | 'json' | 'values';
}

/**
 * Prints the ClusterRole that modules and hooks need, and returns the exit code: 1 when something could not be looked at,
 * so that rules may be missing.
 */
export async function rbacCommand(options: RbacOptions, host: CliHost): Promise<number> {
  const settings = readSettings({ env: host.env, flags: options.flags });
  const signal = host.stopSignal();
  const found = await inspect(
    settings,
    quietHost(host),
    async (inspection) => {
      const { modules } = inspection.operator;
      const unknown = options.modules.filter((name) => modules.every((module) => module.name !== name));
      if (unknown.length > 0) return { unknown };
      const wanted = modules.filter(
        ({ name }) => options.modules.length === 0 || options.modules.includes(name),
      );
      const { access, problems } = await neededAccess(inspection, wanted, signal);
      return { access, problems: problems.map((problem) => inspection.redactor.text(problem)) };
    },
    signal,
  );
  if ('unknown' in found) {
    const directories = settings.modulesDirs.join(':');
    return fail(host, `there is no module ${found.unknown.join(', ')} in ${directories} (--modules-dir)`);
  }
  const rules = policyRules([...found.access, ...(await accessSeenByDaemon(settings, host))]);
  host.stdout.write(textOf(rules, options.format));
  for (const problem of found.problems) host.stderr.write(`Warning: rules may be missing. ${problem}\n`);
  return found.problems.length === 0 ? 0 : 1;
}

function textOf(rules: readonly object[], format: RbacOptions['format']): string {
  if (format === 'values') return dump({ rbac: { rules } }, { noRefs: true });
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'addon-operator-modules' },
    rules,
  };
  return format === 'json' ? `${JSON.stringify(role, null, 2)}\n` : dump(role, { noRefs: true });
}

/** What hooks asked for in KUBERNETES_PATCH_PATH is known to the daemon that ran them only. */
async function accessSeenByDaemon({ debugUnixSocket }: Settings, host: CliHost): Promise<readonly Access[]> {
  const rules = await patchRules(debugUnixSocket, host.clock);
  if (rules === undefined) {
    host.stderr.write(
      `Note: what hooks patch is not among the rules: no daemon answers on the debug socket ${debugUnixSocket} (--debug-unix-socket)\n`,
    );
    return [];
  }
  return accessOfRules(
    rules.filter(isObject).map(({ apiGroups, resources, verbs }) => ({
      apiGroups: texts(apiGroups),
      resources: texts(resources),
      verbs: texts(verbs),
    })),
  );
}

/** Undefined without a daemon to ask; a socket may be left behind by one that is gone. */
async function patchRules(socketPath: string, clock: Clock): Promise<readonly unknown[] | undefined> {
  try {
    const { status, body } = await requestDebug({ socketPath, path: '/access/patches.json' }, clock);
    const rules = status === 200 ? parseJson(body) : undefined;
    return Array.isArray(rules) ? rules : undefined;
  } catch (error) {
    if (hasCode(error, 'DEBUG_SOCKET')) return undefined;
    throw error;
  }
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
