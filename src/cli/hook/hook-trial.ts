import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import { isObject, type Json } from '@addon-operator/json';
import { hasStatus, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { moduleCrds, readObjectFiles } from '@addon-operator/kube-client/object-files';
import { startSandbox } from '@addon-operator/kube-sandbox';
import { dumpYaml, parseYaml } from '@addon-operator/yaml';
import { placeOf } from '../../devkit/hook-place.ts';
import { HookTap } from '../../devkit/hook-tap.ts';
import type { LoneHook } from '../../devkit/lone-hook.ts';
import type { ChangedObject, ReportedChange } from '../../devkit/object-changes.ts';
import type { TrialRequest } from '../../devkit/try-hook.ts';
import { withLoneHook } from '../../devkit/with-lone-hook.ts';
import type { WatchEventType } from '../../hook-config/kubernetes-binding.ts';
import { readSettings } from '../../settings/read-settings.ts';
import type { CliHost } from '../cli-host.ts';
import { quietHost } from '../quiet-host.ts';
import { rethrowSandboxError } from '../sandbox/sandbox-failure.ts';
import { writeKubeconfig } from '../sandbox/sandbox-files.ts';
import { createFirstObjects } from '../sandbox/sandbox-objects.ts';
import { withHookTools } from './hook-tools.ts';

/** The run that the command line requests; paths are relative to the working directory. */
export interface HookTrialOptions {
  readonly hook: string;
  readonly binding?: string;
  readonly event?: WatchEventType;
  /** File with the object of the event. */
  readonly object?: string;
  /** Files and directories with objects that exist. */
  readonly cluster: readonly string[];
  /** File with values, as the ConfigMap would have them. */
  readonly values?: string;
  /** The cluster of this context in place of a sandbox. */
  readonly kubeContext?: string;
  /** Write to that cluster. */
  readonly apply?: true;
}

/** A hook on a sandbox of its own. */
export interface HookTrial {
  readonly hook: LoneHook;
  readonly request: TrialRequest;
  /** All changes of objects so far, but for the ConfigMap of the operator. */
  readonly changes: readonly ReportedChange[];
}

const NAMESPACE = 'addon-operator';
const CONFIG_MAP = 'addon-operator';

/**
 * Puts the hook into operation on a sandbox that lasts for the command: nothing that the hook does, with kubectl too, reaches a
 * cluster. With a context it is that cluster instead, to which only dry runs are sent unless it is to be changed.
 *
 * @throws OperatorError for everything that keeps the hook from being run; and what `use` throws
 */
export async function withHookTrial<T>(
  options: HookTrialOptions,
  tap: HookTap,
  host: CliHost,
  use: (trial: HookTrial, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (options.kubeContext !== undefined) return await withClusterTrial(options, tap, host, use);
  if (options.apply === true)
    throw new OperatorError(
      'CONFIG_INVALID',
      '--apply is used with --kube-context: a sandbox ends with the command',
    );
  return await withSandboxTrial(options, tap, host, use);
}

/** Options that need a sandbox: the cluster would have to change, or has them already. */
const OF_SANDBOX = ['cluster', 'event', 'object', 'values'] as const;

async function withClusterTrial<T>(
  options: HookTrialOptions,
  tap: HookTap,
  host: CliHost,
  use: (trial: HookTrial, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const given = OF_SANDBOX.find((name) => options[name] !== undefined && options[name].length > 0);
  if (given !== undefined)
    throw new OperatorError(
      'CONFIG_INVALID',
      `--${given} is not used with --kube-context: the objects and the ConfigMap of the cluster count`,
    );
  const signal = host.stopSignal();
  const path = resolve(host.cwd, options.hook);
  const isApplied = options.apply === true;
  const settings = readSettings({
    env: host.env,
    flags: { 'kube-config': kubeconfigOf(host), 'kube-context': options.kubeContext ?? '' },
  });
  const place = placeOf(path, resolve(host.cwd, settings.globalHooksDir));
  const changes: ReportedChange[] = [];
  const { namespace, configMapName } = settings;
  const onChange = (change: ReportedChange): void => {
    const { metadata } = change.object;
    if (metadata.namespace !== namespace || !metadata.name.startsWith(configMapName)) changes.push(change);
  };
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  const hookEnv = isApplied ? host.env : { ...host.env, ...NO_CLUSTER };
  const env = withHookTools(hookEnv, join(directory, 'bin'));
  return await withLoneHook(
    {
      settings,
      host: quietHost({ ...host, env }),
      path,
      place,
      tap: tap.around.bind(tap),
      through: (kube) => watchedWrites(kube, isApplied, onChange),
    },
    async (hook) => {
      const { binding } = options;
      const request = { objects: [], ...(binding === undefined ? {} : { binding }) };
      return await use({ hook, request, changes }, signal);
    },
    signal,
  );
}

/** Without access to the cluster: actions of the hook itself, such as with kubectl, would not be a dry run. */
const NO_CLUSTER = { KUBECONFIG: '/dev/null', KUBERNETES_SERVICE_HOST: undefined };

export function kubeconfigOf({ env }: CliHost): string {
  return env['KUBE_CONFIG'] || env['KUBECONFIG'] || join(env['HOME'] ?? '', '.kube', 'config');
}

async function withSandboxTrial<T>(
  options: HookTrialOptions,
  tap: HookTap,
  host: CliHost,
  use: (trial: HookTrial, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = host.stopSignal();
  const path = resolve(host.cwd, options.hook);
  const request = await requestOf(options, host.cwd);
  const config = options.values === undefined ? {} : await readValues(resolve(host.cwd, options.values));
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  const changes: ReportedChange[] = [];
  const sandbox = await startSandbox(
    {
      clock: host.clock,
      log: silentLogger,
      onChange: (change) => {
        if (!isOfOperator(change)) changes.push(change);
      },
    },
    new AbortController().signal,
  ).catch(rethrowSandboxError);
  running.defer(() => sandbox.stop());
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, sandbox.kubeconfig);
  await createFirstObjects(
    sandbox.url,
    { namespace: NAMESPACE, configMap: CONFIG_MAP, data: config },
    signal,
  );
  const flags = { 'kube-config': kubeconfig, namespace: NAMESPACE, 'config-map': CONFIG_MAP };
  const settings = readSettings({ env: host.env, flags });
  const place = placeOf(path, resolve(host.cwd, settings.globalHooksDir));
  // What the hook does with kubectl or a client library must reach the sandbox.
  const env = { ...withHookTools(host.env, join(directory, 'bin')), KUBECONFIG: kubeconfig };
  const around = tap.around.bind(tap);
  return await withLoneHook(
    { settings, host: quietHost({ ...host, env }), path, place, tap: around },
    async (hook) => {
      const crds = place.type === 'module' ? await moduleCrds(place.moduleDir) : [];
      return await use(
        { hook, request: { ...request, objects: [...crds, ...request.objects] }, changes },
        signal,
      );
    },
    signal,
  );
}

function isOfOperator({ object: { metadata } }: ReportedChange): boolean {
  return metadata.namespace === NAMESPACE && metadata.name.startsWith(CONFIG_MAP);
}

async function requestOf(options: HookTrialOptions, cwd: string): Promise<TrialRequest> {
  const objects = await readObjectFiles(options.cluster.map((path) => resolve(cwd, path)));
  const { binding, event: type, object: file } = options;
  const common = { objects, ...(binding === undefined ? {} : { binding }) };
  if (type === undefined && file === undefined) return common;
  if (type === undefined || file === undefined)
    throw new OperatorError(
      'CONFIG_INVALID',
      '--event and --object are used together: what happens, and to which object',
    );
  const [object, ...others] = await readObjectFiles([resolve(cwd, file)]);
  if (object === undefined || others.length > 0)
    throw new OperatorError('CONFIG_INVALID', `--object: ${file} must hold one object`);
  return { ...common, event: { type, object } };
}

/** The data of the ConfigMap: one text for each section. */
async function readValues(path: string): Promise<Readonly<Record<string, string>>> {
  let value: Json;
  try {
    value = parseYaml(await readFile(path, 'utf8'), { source: path, booleans: 'yaml-1.1' }).value;
  } catch (error) {
    throw new OperatorError('CONFIG_INVALID', `--values: ${messageOf(error)}`, { cause: error });
  }
  if (value === null) return {};
  if (!isObject(value))
    throw new OperatorError(
      'CONFIG_INVALID',
      `--values: ${path} must be a mapping of sections, such as 'global' and module keys`,
    );
  return Object.fromEntries(Object.entries(value).map(([key, section]) => [key, dumpYaml(section, 2)]));
}

const DRY_RUN = 'All';

/**
 * The same client, whose writes are reported, and without `isApplied` are dry runs: the API server checks them with all it has,
 * such as quotas and webhooks, and stores nothing.
 */
function watchedWrites(
  kube: KubeClient,
  isApplied: boolean,
  onChange: (change: ReportedChange) => void,
): KubeClient {
  const before = async ({ path }: KubeRequest, signal: AbortSignal): Promise<ChangedObject | undefined> => {
    try {
      return objectIn(await kube.request({ method: 'GET', path }, signal));
    } catch (error) {
      if (hasStatus(error, 404) || hasStatus(error, 405)) return undefined;
      throw error;
    }
  };
  return {
    stream: (request, signal) => kube.stream(request, signal),
    request: async (request, signal) => {
      const { method, query } = request;
      if (method === 'GET') return await kube.request(request, signal);
      const previous = method === 'POST' ? undefined : await before(request, signal);
      const sent = isApplied ? request : { ...request, query: { ...query, dryRun: DRY_RUN } };
      const response = await kube.request(sent, signal);
      const object = objectIn(response);
      if (method === 'DELETE') {
        if (previous !== undefined) onChange({ type: 'removed', object: previous, previous });
      } else if (object !== undefined)
        onChange({ type: previous === undefined ? 'added' : 'modified', object, previous });
      return response;
    },
  };
}

function objectIn(response: unknown): ChangedObject | undefined {
  if (!isObject(response) || !isObject(response['metadata']) || response['kind'] === 'Status')
    return undefined;
  return response as unknown as ChangedObject;
}
