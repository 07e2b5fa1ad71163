import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import type { Json } from '@addon-operator/json';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { type Sandbox, type SandboxOptions, startSandbox } from '@addon-operator/kube-sandbox';
import { createLogger } from '@addon-operator/logging/json-logger';
import { dumpYaml } from '@addon-operator/yaml';
import { type HookLab, withHookLab } from '../../devkit/hook-lab.ts';
import { readSettings } from '../../settings/read-settings.ts';
import type { Settings } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { daemonHost } from '../daemon-host.ts';
import { withHookTools } from '../hook/hook-tools.ts';
import { rethrowSandboxError } from './sandbox-failure.ts';
import { writeKubeconfig } from './sandbox-files.ts';

/** Namespace and name of the ConfigMap of the operator on the sandbox. */
export const NAMESPACE = 'addon-operator';
export const CONFIG_MAP = 'addon-operator';

/** Hooks one after another on one sandbox in memory. */
export interface SandboxLab {
  readonly lab: HookLab;
  readonly sandbox: Sandbox;
  readonly settings: Settings;
}

/** A sandbox in memory, and what leads the operator and its hooks there. */
export interface SandboxApi {
  readonly sandbox: Sandbox;
  readonly settings: Settings;
  /** Variables for hooks: those that use kubectl reach the sandbox. */
  readonly env: CliHost['env'];
}

export interface SandboxApiOptions extends Pick<SandboxOptions, 'onChange' | 'onRequest'> {
  /** Further settings, by flag name. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Times of objects, in milliseconds since 1970. */
  readonly wallMs?: () => number;
}

/**
 * Starts a sandbox that lasts for a command. When this resolves it has ended, and its temporary files are gone.
 *
 * @throws OperatorError when that is not possible; errors of `use`
 */
export async function withSandboxApi<T>(
  host: CliHost,
  { flags = {}, wallMs = () => systemClock.wallMs(), ...watch }: SandboxApiOptions,
  use: (api: SandboxApi) => Promise<T>,
): Promise<T> {
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  const sandbox = await startSandbox(
    { clock: { ...systemClock, wallMs }, log: silentLogger, ...watch },
    new AbortController().signal,
  ).catch(rethrowSandboxError);
  running.defer(() => sandbox.stop());
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, sandbox.kubeconfig);
  const own = { 'kube-config': kubeconfig, namespace: NAMESPACE, 'config-map': CONFIG_MAP };
  const settings = readSettings({ env: host.env, flags: { ...flags, ...own } });
  const env = { ...withHookTools(host.env, join(directory, 'bin')), KUBECONFIG: kubeconfig };
  return await use({ sandbox, settings, env });
}

/** The same, with what hooks need to run on it. */
export async function withSandboxLab<T>(
  host: CliHost,
  options: SandboxApiOptions,
  use: (lab: SandboxLab) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return await withSandboxApi(host, options, async ({ sandbox, settings, env }) => {
    const labHost = daemonHost(
      { ...host, env },
      errorLog(() => undefined),
    );
    return await withHookLab({ settings, host: labHost }, (lab) => use({ lab, sandbox, settings }), signal);
  });
}

/** Creates the namespace and the ConfigMap of the operator. */
export async function createOperatorObjects(
  kube: KubeClient,
  values: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, section]) => [key, dumpYaml(section as Json, 2)]),
  );
  const namespaces = '/api/v1/namespaces';
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  await kube.request({ method: 'POST', path: namespaces, body: namespace }, signal);
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: CONFIG_MAP }, data };
  const path = `${namespaces}/${NAMESPACE}/configmaps`;
  await kube.request({ method: 'POST', path, body: configMap }, signal);
}

/** Replaces sections of the ConfigMap; null removes one. */
export async function patchOperatorConfig(
  kube: KubeClient,
  sections: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(sections).map(([key, section]) => [
      key,
      section === null ? null : dumpYaml(section as Json, 2),
    ]),
  );
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/${CONFIG_MAP}`;
  const contentType = 'application/merge-patch+json';
  await kube.request({ method: 'PATCH', path, contentType, body: { data } }, signal);
}

/** Passes the messages of errors on, and drops all else. */
export function errorLog(onError: (text: string) => void): ReturnType<typeof createLogger> {
  return createLogger({
    level: 'error',
    type: 'text',
    hasTime: false,
    clock: systemClock,
    output: { write: (line) => onError(line.trimEnd()) },
  });
}
