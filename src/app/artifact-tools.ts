/** Wiring: the functions of `artifacts/` and registries as delivery uses them. What they do is tested in their rooms. */

import type { Clock } from '@addon-operator/base/clock';
import { kubeletCredentialProvider } from '@addon-operator/oci/credential-plugins';
import { readDockerConfig } from '@addon-operator/oci/docker-config';
import { RegistrySession } from '@addon-operator/oci/open-repository';
import { pluginRunner } from '@addon-operator/oci/run-plugin';
import { readArtifact } from '../artifacts/read-artifact.ts';
import { resolveChannel } from '../artifacts/release-channel.ts';
import { unpackArtifact } from '../artifacts/unpack-artifact.ts';
import { verifyArtifact, verifyContent } from '../artifacts/verify-artifact.ts';
import type { ArtifactTools } from '../delivery/delivery-parts.ts';
import type { DaemonHost } from './host.ts';
import type { RegistryAccess, RegistryConnection } from './start-delivery.ts';

export function artifactTools(clock: Clock): ArtifactTools {
  return {
    read: readArtifact,
    verify: verifyArtifact,
    resolveChannel,
    unpack: async ({ repository, artifact, directory, module, policy: { keyring } }, signal) => {
      await unpackArtifact(repository, artifact, directory, signal);
      await verifyContent(directory, { module, keyring, clock }, signal);
    },
  };
}

/** Opens the registries of sources. @throws OperatorError SOURCE_INVALID */
export function registryConnector({
  clock,
  env,
}: Pick<DaemonHost, 'clock' | 'env'>): (access: RegistryAccess) => RegistryConnection {
  return ({ dockerConfig, credentialProvider, ca, timeoutMs }) => {
    const run = pluginRunner(clock, env);
    const credentials =
      credentialProvider !== undefined
        ? kubeletCredentialProvider(credentialProvider, { run, clock })
        : dockerConfig === undefined
          ? undefined
          : readDockerConfig(dockerConfig, 'the Secret of the source');
    return new RegistrySession({ clock, credentials, ca, responseTimeoutMs: timeoutMs });
  };
}
