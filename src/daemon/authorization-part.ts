import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AuthorizationPolicy } from '../extensions/authorization/authorization-policy.ts';
import { digestPolicy } from '../extensions/authorization/digest-policy.ts';
import { keyringPolicy } from '../extensions/authorization/keyring-policy.ts';
import { ModuleAuthorization } from '../extensions/authorization/module-authorization.ts';
import { SeenSerials } from '../extensions/authorization/seen-serials.ts';
import { makeStagingDirectory } from '../extensions/authorization/staging-directory.ts';
import type { Authorization } from '../operator/operator-deps.ts';
import type { Settings } from '../settings.ts';
import type { BuildOptions } from './build-options.ts';
import { keepSerials, serialStore } from './serial-store.ts';

/** Decides which modules may run. */
export interface AuthorizationPart extends Authorization {
  readonly gate: ModuleAuthorization;
}

/**
 * What the settings say about authorization; undefined where all modules may run.
 *
 * @throws OperatorError CONFIG_INVALID for a directory that cannot be used
 */
export async function createAuthorization(options: BuildOptions): Promise<AuthorizationPart | undefined> {
  const { settings, base, stop, running } = options;
  const policy = policyOf(options);
  if (policy === undefined) return undefined;
  const { authStagingDir } = settings;
  const directory = await makeStagingDirectory(
    authStagingDir === '' ? join(base.tmpDir, 'modules') : authStagingDir,
    settings.modulesDirs,
  );
  running.defer(() => rm(directory, { recursive: true, force: true }));
  const gate = new ModuleAuthorization({ policy, directory, signal: stop });
  return {
    gate,
    policy: settings.authPolicy,
    verify: ({ name, path }, signal) => gate.verify(name, path, signal),
  };
}

/** The files that decide about modules, to be watched like the modules themselves. */
export function policyFiles({ authPolicy, authLockFile, authKeyring }: Settings): readonly string[] {
  switch (authPolicy) {
    case 'none':
      return [];
    case 'digest':
      return [authLockFile];
    case 'keyring':
      return [authKeyring];
  }
}

function policyOf(options: BuildOptions): AuthorizationPolicy | undefined {
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

function createSerials({ settings, host, base, stop, running, isInspection }: BuildOptions): SeenSerials {
  const isReadOnly = isInspection === true;
  const ref = { namespace: settings.namespace, name: `${settings.configMapName}-signatures` };
  const serials = new SeenSerials(serialStore({ kube: base.cluster.main, ref, isReadOnly, host, stop }));
  if (!isReadOnly) {
    const keeping = keepSerials(serials, ref.name, host, stop);
    running.defer(() => keeping);
  }
  return serials;
}
