import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { RetryHost } from '@addon-operator/kube-client/retry';
import type { AuthorizationPolicy } from '../authorization/authorization-policy.ts';
import { digestPolicy } from '../authorization/digest-policy.ts';
import { keyringPolicy } from '../authorization/keyring.ts';
import { ModuleAuthorization } from '../authorization/module-authorization.ts';
import { keepSerials, SeenSerials, serialStore } from '../authorization/seen-serials.ts';
import { makeStagingDirectory } from '../authorization/staging-directory.ts';
import type { Module } from '../modules/module.ts';
import type { AuthorizationSettings } from '../settings/authorization-settings.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';

interface AuthorizationOptions {
  readonly settings: AuthorizationSettings & InstanceSettings & Pick<DirectorySettings, 'modulesDirs'>;
  readonly host: RetryHost & { readonly clock: Clock };
  readonly kube: KubeClient;
  readonly tmpDir: string;
  readonly stop: AbortSignal;
  /** Receives everything that has to be stopped. */
  readonly running: AsyncDisposableStack;
  /** The daemon must not write to the cluster. */
  readonly isInspection: boolean;
}

/** Decides which modules may run. */
interface AuthorizationPart {
  readonly gate: ModuleAuthorization;
  /** The name of the policy, which hooks see. */
  readonly policy: string;
  /** @throws OperatorError MODULE_UNAUTHORIZED when a module may not run any more, or was changed */
  verify(module: Module, signal: AbortSignal): Promise<void>;
}

/**
 * Creates the authorization of modules according to the settings; undefined if all modules may run.
 * An authorized module is copied to the staging directory and runs from there, so that later
 * changes of its directory have no effect.
 *
 * @throws OperatorError CONFIG_INVALID for a directory that cannot be used
 */
export async function createAuthorization(
  options: AuthorizationOptions,
): Promise<AuthorizationPart | undefined> {
  const { settings, tmpDir, stop, running } = options;
  const policy = policyOf(options);
  if (policy === undefined) return undefined;
  const { authStagingDir } = settings;
  const directory = await makeStagingDirectory(
    authStagingDir === '' ? join(tmpDir, 'modules') : authStagingDir,
    settings.modulesDirs,
  );
  // Copies are only valid for this process: the next one checks and copies again.
  running.defer(() => rm(directory, { recursive: true, force: true }));
  const gate = new ModuleAuthorization({ policy, directory, signal: stop });
  return {
    gate,
    policy: settings.authPolicy,
    verify: ({ name, path }, signal) => gate.verify(name, path, signal),
  };
}

/** The files of the policy, which are watched like the modules. */
export function policyFiles({
  authPolicy,
  authLockFile,
  authKeyring,
}: Pick<AuthorizationSettings, 'authPolicy' | 'authLockFile' | 'authKeyring'>): readonly string[] {
  switch (authPolicy) {
    case 'none':
      return [];
    case 'digest':
      return [authLockFile];
    case 'keyring':
      return [authKeyring];
  }
}

function policyOf(options: AuthorizationOptions): AuthorizationPolicy | undefined {
  const { settings, host } = options;
  switch (settings.authPolicy) {
    case 'none':
      return undefined;
    case 'digest':
      return digestPolicy(resolve(settings.authLockFile));
    case 'keyring':
      return keyringPolicy({
        keyring: resolve(settings.authKeyring),
        clock: host.clock,
        serials: createSerials(options),
      });
  }
}

function createSerials({
  settings,
  host,
  kube,
  stop,
  running,
  isInspection: isReadOnly,
}: AuthorizationOptions): SeenSerials {
  const ref = { namespace: settings.namespace, name: `${settings.configMapName}-signatures` };
  const serials = new SeenSerials(serialStore({ kube, ref, isReadOnly, host, stop }));
  // Serial numbers of signatures are kept in the cluster, so that an older signed version is
  // refused after a restart.
  if (!isReadOnly) {
    const keeping = keepSerials(serials, ref.name, host, stop);
    running.defer(() => keeping);
  }
  return serials;
}
