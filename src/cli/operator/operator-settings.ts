import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { hasCode } from '@addon-operator/base/errors';
import { isObject, parseJson } from '@addon-operator/json';
import { loadKubeConfig, NoClusterError } from '@addon-operator/kube-client/kube-config';
import { NAMESPACE } from '../../devkit/operator-objects.ts';
import { requestDebug } from '../../server/debug-client.ts';
import type { DirectorySettings } from '../../settings/directory-settings.ts';
import type { KubeSettings } from '../../settings/kube-settings.ts';
import { readSetting, readSettings } from '../../settings/read-settings.ts';
import { SETTINGS, type Settings } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { findDebugSocket } from '../find-socket.ts';
import { withSandboxApi } from '../sandbox/sandbox-lab.ts';
import { createFirstObjects } from '../sandbox/sandbox-objects.ts';

type Flags = Readonly<Record<string, string>>;
type Running = Readonly<Record<string, unknown>>;

/** The settings that a command works with, and the socket of the operator that they may be from. */
export interface OperatorSettings {
  readonly settings: Settings;
  readonly socketPath: string;
}

const CLUSTER_SETTINGS = ['kubeConfig', 'kubeContext', 'kubeServer'] as const;

/**
 * The settings of a command that looks at what an operator works on: flags, variables, then those of the operator that
 * runs, so that a command beside it needs none. An operator on another cluster than the one that is named does not count;
 * in the directory of a sandbox only a flag names another one, as for the sandbox itself.
 *
 * @param flags values given on the command line, by flag name
 * @throws OperatorError CONFIG_INVALID with every mistake
 */
export async function operatorSettings(flags: Flags, host: CliHost): Promise<OperatorSettings> {
  const { env } = host;
  const socketPath = await findDebugSocket(flags, host);
  const running = await settingsOfOperator(socketPath, host);
  const isInSandbox = socketPath !== readSetting('debugUnixSocket', { env, flags });
  const given = isInSandbox ? { env: withoutCluster(env), flags } : { env, flags };
  const others = running !== undefined && isOfCluster(running, given) ? running : {};
  const settings = readSettings({ ...given, running: { namespace: NAMESPACE, ...others } });
  return { settings, socketPath };
}

/** Undefined if none responds, or one that does not say. */
async function settingsOfOperator(socketPath: string, { clock }: CliHost): Promise<Running | undefined> {
  try {
    const { status, body } = await requestDebug({ socketPath, path: '/settings.json' }, clock);
    const settings = status === 200 ? parseJson(body) : undefined;
    return isObject(settings) ? settings : undefined;
  } catch (error) {
    if (hasCode(error, 'DEBUG_SOCKET')) return undefined;
    throw error;
  }
}

function withoutCluster(env: CliHost['env']): CliHost['env'] {
  const names: ReadonlySet<string> = new Set(CLUSTER_SETTINGS.flatMap((name) => SETTINGS[name].env));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

function isOfCluster(
  running: Running,
  given: { readonly env: CliHost['env']; readonly flags: Flags },
): boolean {
  return CLUSTER_SETTINGS.every((name) => {
    const wanted = readSetting(name, given);
    return wanted === '' || wanted === running[name];
  });
}

/** Where a command looks. */
export interface ClusterOfCommand {
  readonly settings: Settings;
  readonly host: CliHost;
  /** Whether it is an empty cluster in memory, because none is configured. */
  readonly isMadeUp: boolean;
}

/** Gives `use` the cluster of the settings, or where none is configured an empty one that lasts for the command. */
export async function withCluster<T>(
  settings: Settings,
  host: CliHost,
  use: (cluster: ClusterOfCommand) => Promise<T>,
): Promise<T> {
  if (await isConfigured(settings, host)) return await use({ settings, host, isMadeUp: false });
  return await withSandboxApi(host, {}, async ({ sandbox, settings: { kubeConfig }, env }) => {
    const { namespace, configMapName: configMap } = settings;
    await createFirstObjects(sandbox.url, { namespace, configMap }, host.stopSignal());
    const globalHooksDir = await globalHooksOf(settings, host.cwd, dirname(kubeConfig));
    const own = { ...settings, kubeConfig, globalHooksDir };
    return await use({ settings: own, host: { ...host, env }, isMadeUp: true });
  });
}

/** Where there are modules alone, an empty directory counts, as a sandbox makes one. */
async function globalHooksOf(
  { globalHooksDir }: Pick<DirectorySettings, 'globalHooksDir'>,
  cwd: string,
  scratchDirectory: string,
): Promise<string> {
  const isNamed = globalHooksDir !== SETTINGS.globalHooksDir.default;
  if (isNamed || existsSync(resolve(cwd, globalHooksDir))) return globalHooksDir;
  const empty = join(scratchDirectory, globalHooksDir);
  await mkdir(empty);
  return empty;
}

/** Also true for a configuration that cannot be used: whoever uses it says why. */
async function isConfigured(
  { kubeConfig, kubeContext, kubeServer }: KubeSettings,
  { env }: CliHost,
): Promise<boolean> {
  const readText = (path: string): Promise<string> => readFile(path, 'utf8');
  try {
    await loadKubeConfig({ kubeConfigPath: kubeConfig, kubeContext, kubeServer, env, readFile: readText });
  } catch (error) {
    return !(error instanceof NoClusterError);
  }
  return true;
}
