import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { readDockerConfig } from '@addon-operator/oci/docker-config';
import { openRepository } from '@addon-operator/oci/open-repository';
import type { CredentialSource } from '@addon-operator/oci/registry-credentials';
import type { WritableRepository } from '@addon-operator/oci/repository';
import { pluginRunner } from '@addon-operator/oci/run-plugin';
import type { CliHost } from '../cli-host.ts';

/** Opens a repository with the accounts of the user: `oci://` or `oci-layout://`. */
export type OpenRepository = (url: string, host: CliHost) => Promise<WritableRepository>;

/** With the accounts that `docker login`, `oras login` and `helm registry login` store, and their credential helpers. */
export const openRegistry: OpenRepository = async (url, host) => {
  return openRepository(url, { clock: host.clock, credentials: await dockerAccounts(host) });
};

async function dockerAccounts({ env, clock }: CliHost): Promise<CredentialSource | undefined> {
  const file = join(env['DOCKER_CONFIG'] || join(env['HOME'] || homedir(), '.docker'), 'config.json');
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
  return readDockerConfig(content, file, pluginRunner(clock, env));
}
