import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import { isObject, type JsonObject } from '@addon-operator/json';
import type { Access } from '@addon-operator/kube-client/policy-rules';
import { parseYaml } from '@addon-operator/yaml';
import { inspect } from '../../app/inspect.ts';
import { runDaemon } from '../../daemon.ts';
import { missingAccess } from '../../devkit/doctor-facts.ts';
import { fullName, type Hook } from '../../hooks/hook.ts';
import { type TakeProgress, takeModule } from '../../leader/take-module.ts';
import type { LoneModule } from '../../model/lone-module.ts';
import { pausesRef } from '../../model/pause-entry.ts';
import { findModules } from '../../modules/find-modules.ts';
import type { Module } from '../../modules/module.ts';
import type { Inspection } from '../../plan/inspection.ts';
import { neededAccess } from '../../plan/needed-access.ts';
import type { InstanceSettings } from '../../settings/config-map-settings.ts';
import type { DirectorySettings } from '../../settings/directory-settings.ts';
import type { KubeSettings } from '../../settings/kube-settings.ts';
import type { LeaseSettings } from '../../settings/lease-settings.ts';
import { readSettings } from '../../settings/read-settings.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { withHookTools } from '../hook/hook-tools.ts';
import { kubeconfigOf } from '../hook/hook-trial.ts';
import { openDaemonLog } from '../operator/start-command.ts';
import { quietHost } from '../quiet-host.ts';
import { devFlags } from './dev-flags.ts';

export interface DevCommandOptions {
  /** Undefined for the only one. */
  readonly module: string | undefined;
  readonly isForced: boolean;
  /** A file. */
  readonly globalValues: string | undefined;
  /** Values of daemon flags, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
}

/**
 * Runs one module until the process is asked to stop, in place of the operator in the cluster.
 *
 * @returns the exit code: 1 also when the module was taken away
 * @throws OperatorError before the module is handed over: for settings, files and permissions that do not suffice
 */
export async function runDev(options: DevCommandOptions, host: CliHost): Promise<number> {
  const given = { env: host.env, flags: options.flags };
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  // One process runs the module, whatever the operator in the cluster is.
  const env = { ...host.env, ADDON_OPERATOR_HA: undefined };
  const settings = readSettings({ env, flags: devFlags(given, directory, kubeconfigOf(host)) });
  const stop = host.stopSignal();
  const say = (text: string): unknown => host.stderr.write(`${harmless(text)}\n`);
  const name = options.module ?? (await onlyModule(settings, host));
  const globalValues = await readGlobalValues(options.globalValues, host.cwd);
  let enabledModules: readonly string[] = [];
  const module: LoneModule = {
    name,
    enabledModules: () => enabledModules,
    ...(globalValues !== undefined && { globalValues }),
  };
  const hookEnv = await hookEnvironment({ ...host, env }, settings, directory);
  const devHost = { ...host, env: hookEnv };
  const look = (inspection: Inspection): Promise<void> => check(inspection, settings, name, host, stop);
  await inspect(settings, quietHost(devHost), look, stop, module);
  for (const line of introduction(settings, name, options)) say(line);
  const onProgress = (progress: TakeProgress): void => {
    if (progress.type === 'accepted') enabledModules = progress.facts['enabledModules'] ?? [];
    say(progressText(progress, settings, name));
  };
  await using opened = await openDaemonLog(settings, devHost, options.flags);
  let isLost = false;
  const exitCode = await runDaemon(settings, opened.host, stop, undefined, {
    module,
    takeLead: (lead) =>
      takeModule({
        ...lead,
        module: name,
        ref: pausesRef(settings),
        holder: holderOf(host),
        isForced: options.isForced,
        onProgress,
        onLost: (error) => {
          isLost = true;
          say(`module ${name} is not handed over any more: ${error.message}`);
          lead.onLost(error);
        },
      }),
  });
  return isLost ? 1 : exitCode;
}

/** @throws OperatorError MODULE_UNKNOWN when there is not exactly one */
async function onlyModule(settings: DirectorySettings, host: CliHost): Promise<string> {
  const { modules } = await findModules({
    dirs: settings.modulesDirs,
    defaultOrder: settings.unnumberedModulesOrder,
    isStrict: false,
    globalHooksDir: settings.globalHooksDir,
    allowsLinksOutside: settings.allowsLinksOutside,
    log: quietHost(host).log,
  });
  const [first, ...others] = modules;
  if (first !== undefined && others.length === 0) return first.name;
  const directories = settings.modulesDirs.join(':');
  throw new OperatorError(
    'MODULE_UNKNOWN',
    first === undefined
      ? `there is no module in ${directories} (--modules-dir)`
      : `name the module to run: ${modules.map(({ name }) => name).join(', ')}`,
  );
}

async function readGlobalValues(file: string | undefined, cwd: string): Promise<JsonObject | undefined> {
  if (file === undefined) return undefined;
  const path = resolve(cwd, file);
  try {
    const { value } = parseYaml(await readFile(path, 'utf8'), { source: path, booleans: 'yaml-1.1' });
    if (!isObject(value)) throw new OperatorError('CONFIG_INVALID', `${path} is no mapping of values`);
    // Each hook gets the list as it is in the cluster.
    const { enabledModules: _, ...values } = isObject(value['global']) ? value['global'] : value;
    return values;
  } catch (error) {
    throw new OperatorError('CONFIG_INVALID', `--global-values: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Hooks find what they find in the image, and reach the cluster of the context with kubectl as well: the first of several
 * kubeconfigs says which context is the current one.
 */
async function hookEnvironment(
  { env }: Pick<CliHost, 'env'>,
  { kubeConfig, kubeContext }: Pick<KubeSettings, 'kubeConfig' | 'kubeContext'>,
  directory: string,
): Promise<CliHost['env']> {
  const first = join(directory, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [],
    contexts: [],
    users: [],
    'current-context': kubeContext,
  };
  await writeFile(first, JSON.stringify(config), { mode: 0o600 });
  const KUBECONFIG = `${first}${delimiter}${kubeConfig}`;
  return { ...withHookTools(env, join(directory, 'bin')), KUBECONFIG };
}

/** @throws OperatorError for a module that cannot run here, and for missing permissions */
async function check(
  inspection: Inspection,
  settings: InstanceSettings & Pick<KubeSettings, 'kubeContext'>,
  name: string,
  host: CliHost,
  signal: AbortSignal,
): Promise<void> {
  const { operator, base } = inspection;
  const module = operator.registry.find(name);
  if (module === undefined) return;
  if (module.refusal !== undefined)
    throw new OperatorError(
      module.refusal.type === 'unauthorized' ? 'MODULE_UNAUTHORIZED' : 'MODULE_INVALID',
      `module ${name} is not run: ${module.refusal.reason}`,
    );
  const pause = operator.pauses.of(name);
  if (pause !== undefined)
    throw new OperatorError(
      'HAND_OVER_REFUSED',
      `module ${name} is paused: ${pause.reason}; end that first, with "addon-operator module resume ${name}" in the cluster`,
    );
  const hooks = await operator.sources.loadModuleHooks(module, signal);
  refuseWebhooks(module, hooks);
  const { access, problems } = await neededAccess(inspection, [module], signal);
  for (const problem of problems)
    host.stderr.write(
      `Warning: permissions may be missing. ${harmless(inspection.redactor.text(problem))}\n`,
    );
  const missing = await missingAccess(base.cluster.helm, [...ownAccess(settings), ...access], signal);
  if (missing.length === 0) return;
  const context = settings.kubeContext;
  throw new OperatorError(
    'HAND_OVER_REFUSED',
    `the user of context ${context} may not do what module ${name} needs:\n${missing.map((one) => `  ${one}`).join('\n')}\n"addon-operator rbac ${name}" prints rules for the module; the others are for its hand-over and for the releases of helm`,
  );
}

/** The API server of a cluster calls webhooks, and cannot reach this machine. */
function refuseWebhooks({ name, manifest }: Module, hooks: readonly Hook[]): void {
  const served = hooks.filter(({ config }) => config.admission.length > 0 || config.conversion.length > 0);
  const [first] = served;
  if (first !== undefined)
    throw new OperatorError(
      'HAND_OVER_REFUSED',
      `module ${name} has webhooks, which the API server of the cluster cannot call on this machine: ${served.map((hook) => fullName(hook)).join(', ')}; use "addon-operator sandbox", or take these hooks out of the module`,
    );
  if (manifest.hook !== undefined)
    throw new OperatorError(
      'HAND_OVER_REFUSED',
      `module ${name} has a reconcile webhook in module.yaml, which is a server in the cluster that this machine cannot reach: use "addon-operator sandbox"`,
    );
}

/** The permissions for the hand-over, the ConfigMap and the releases. */
function ownAccess({ namespace, configMapName }: InstanceSettings): readonly Access[] {
  const inNamespace = { group: '', namespace };
  const names = [configMapName, `${configMapName}-pauses`];
  return [
    { ...inNamespace, resource: 'configmaps', verbs: ['get', 'list', 'watch', 'update'], names },
    { ...inNamespace, resource: 'configmaps', verbs: ['create'] },
    { ...inNamespace, resource: 'secrets', verbs: ['get', 'list', 'create', 'update', 'delete'] },
  ];
}

function introduction(
  {
    namespace,
    configMapName,
    kubeContext,
    modulesDirs,
  }: InstanceSettings & Pick<KubeSettings, 'kubeContext'> & Pick<DirectorySettings, 'modulesDirs'>,
  name: string,
  { globalValues }: DevCommandOptions,
): readonly string[] {
  const global =
    globalValues === undefined
      ? `those of values.yaml in ${modulesDirs.join(':')} and of the ConfigMap; what global hooks set in the cluster is missing, --global-values takes it`
      : `those of ${globalValues} and of the ConfigMap`;
  return [
    `module ${name} runs here with the cluster of context ${kubeContext}; all other modules and the global hooks run in the cluster`,
    `values of the module: its files here, and ConfigMap ${namespace}/${configMapName}; global values: ${global}`,
  ];
}

function progressText(
  progress: TakeProgress,
  {
    namespace,
    leaseDurationMs,
  }: Pick<InstanceSettings, 'namespace'> & Pick<LeaseSettings, 'leaseDurationMs'>,
  name: string,
): string {
  const seconds = Math.round(leaseDurationMs / 1_000);
  switch (progress.type) {
    case 'held':
      return `module ${name} is handed over to addon-operator dev of ${progress.by}: waiting to see whether that one still runs`;
    case 'requested':
      return `waiting for the operator in ${namespace} to hand module ${name} over`;
    case 'ending':
      return `operator ${progress.by} ends its runs of module ${name} first`;
    case 'accepted':
      return `operator ${progress.by} has handed module ${name} over`;
    case 'given-back':
      return `module ${name} is handed back to the operator in ${namespace}`;
    case 'not-given-back':
      return `module ${name} could not be handed back: the operator in ${namespace} takes it back ${seconds} s after the last renewal`;
    case 'ended':
      return `what ran of module ${name} here has ended`;
  }
}

/** `user@host`, and what distinguishes this process from others of the user. */
function holderOf({ env }: CliHost): string {
  const id = randomBytes(4).toString('hex');
  return `${userName(env)}@${hostname()}_${id}`;
}

function userName(env: CliHost['env']): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run with a number that no user has.
    return env['USER'] ?? 'unknown';
  }
}
