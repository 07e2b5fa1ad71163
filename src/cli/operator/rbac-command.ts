import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import { isObject, parseJson, stringsOf } from '@addon-operator/json';
import type { Access, ResourceAccess } from '@addon-operator/kube-client/policy-rules';
import { inspect } from '../../app/inspect.ts';
import { grantsFor } from '../../modules/access/grants.ts';
import { neededAccess } from '../../plan/needed-access.ts';
import { requestDebug } from '../../server/debug-client.ts';
import type { UiSettings } from '../../settings/ui-settings.ts';
import { type CliHost, fail } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { printData } from '../output/print-data.ts';
import { quietHost } from '../quiet-host.ts';
import { adoptPatches } from './adopt-patches.ts';
import { operatorSettings } from './operator-settings.ts';
import { type RbacFormat, ROLE_NAME, rbacText } from './rbac-text.ts';

export interface RbacOptions {
  /** Values given on the command line, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Names of modules; none for all. */
  readonly modules: readonly string[];
  readonly format: RbacFormat;
}

/**
 * Prints the roles that modules and hooks need, and returns the exit code: 1 when something could not be looked at,
 * so that rules may be missing.
 */
export async function rbacCommand(options: RbacOptions, host: CliHost): Promise<number> {
  const { settings, socketPath } = await operatorSettings(options.flags, host);
  const signal = host.stopSignal();
  const found = await inspect(
    settings,
    quietHost(host),
    async (inspection) => {
      const { modules } = inspection.operator.registry;
      const unknown = options.modules.filter((name) => modules.every((module) => module.name !== name));
      if (unknown.length > 0) return { unknown };
      const wanted = modules.filter(
        ({ name }) => options.modules.length === 0 || options.modules.includes(name),
      );
      const daemon = { socketPath, clock: host.clock };
      const names = wanted.map(({ name }) => name);
      const lacking = await adoptPatches(inspection, names, daemon, signal);
      const needed = await neededAccess(inspection, wanted, signal);
      const problems = [...lacking, ...needed.problems].map((problem) => inspection.redactor.text(problem));
      return { ...needed, problems, namespace: inspection.namespace };
    },
    signal,
  );
  if ('unknown' in found) {
    const directories = settings.modulesDirs.join(':');
    return fail(host, `no module named ${found.unknown.join(', ')} in ${directories} (--modules-dir)`);
  }
  const { createdNamespaces, namespace } = found;
  // The chart grants them itself, with `ui.auth`.
  const ofPage = options.format === 'values' ? [] : accessOfSignIn(settings);
  const access = [...found.access, ...ofPage, ...(await accessSeenByDaemon(socketPath, host))];
  const grants = grantsFor(access, createdNamespaces);
  printData(host, rbacText(grants, options.format, namespace));
  const note = (text: string): unknown => host.stderr.write(`Note: ${text}\n`);
  const lifted = [...createdNamespaces].filter((name) => access.some((one) => isIn(one, name)));
  if (lifted.length > 0)
    note(
      `permissions for ${lifted.join(', ')} are granted cluster-wide: a chart creates the namespace, so a Role cannot exist before it`,
    );
  if (options.format !== 'values') note(bindingHint([...grants.namespaces.keys()], namespace));
  for (const problem of found.problems)
    host.stderr.write(`Warning: rules may be missing. ${harmless(problem)}\n`);
  return found.problems.length === 0 ? 0 : 1;
}

function isIn(access: Access, namespace: string): boolean {
  return 'resource' in access && access.namespace === namespace;
}

/** With a sign-in the page has the API server check tokens and accesses of its users. */
function accessOfSignIn({ ui, uiAuth }: Pick<UiSettings, 'ui' | 'uiAuth'>): readonly ResourceAccess[] {
  if (ui === 'off' || uiAuth === 'token') return [];
  const create = { verbs: ['create'] };
  return [
    ...(uiAuth === 'kubernetes'
      ? [{ group: 'authentication.k8s.io', resource: 'tokenreviews', ...create }]
      : []),
    { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', ...create },
  ];
}

/** The roles do nothing until they are bound. */
function bindingHint(namespaces: readonly string[], ownNamespace: string): string {
  const account = `--serviceaccount=${ownNamespace}:ACCOUNT`;
  const everywhere = `kubectl create clusterrolebinding ${ROLE_NAME} --clusterrole=${ROLE_NAME} ${account}`;
  const local = namespaces.map(
    (name) => `kubectl -n ${name} create rolebinding ${ROLE_NAME} --role=${ROLE_NAME} ${account}`,
  );
  return ['bind the roles to the account of the operator:', everywhere, ...local].join('\n  ');
}

/** Only the daemon that ran the hooks knows the operations that they wrote to KUBERNETES_PATCH_PATH. */
async function accessSeenByDaemon(socketPath: string, host: CliHost): Promise<readonly ResourceAccess[]> {
  const seen = await patchAccess(socketPath, host.clock);
  if (seen === undefined) {
    host.stderr.write(
      `Note: the rules do not include objects that hooks patch, and charts are rendered without the values that hooks set: no daemon responds on the debug socket ${socketPath} (--debug-unix-socket)\n`,
    );
    return [];
  }
  host.stderr.write(
    'Note: of the objects that hooks patch, the rules include only those patched since the daemon started\n',
  );
  return seen
    .filter(isObject)
    .flatMap(({ group, resource, verbs, namespace }) =>
      typeof group === 'string' && typeof resource === 'string'
        ? [{ group, resource, verbs: stringsOf(verbs), ...(typeof namespace === 'string' && { namespace }) }]
        : [],
    );
}

/** Undefined when no daemon runs; its socket may still exist. */
async function patchAccess(socketPath: string, clock: SteadyClock): Promise<readonly unknown[] | undefined> {
  try {
    const { status, body } = await requestDebug({ socketPath, path: '/access/patches.json' }, clock);
    const seen = status === 200 ? parseJson(body) : undefined;
    return Array.isArray(seen) ? seen : undefined;
  } catch (error) {
    if (hasCode(error, 'DEBUG_SOCKET')) return undefined;
    throw error;
  }
}
