import { OperatorError } from '@addon-operator/base/errors';
import type { WritableRepository } from '@addon-operator/oci/repository';
import type { CliHost } from '../cli-host.ts';

/** Opens a repository, with the credentials of the user: `oci://` or `oci-layout://`. */
export type OpenRepository = (url: string, host: CliHost) => Promise<WritableRepository>;

export const openRegistry: OpenRepository = (url) =>
  Promise.reject(new OperatorError('REGISTRY_UNREACHABLE', `${url} cannot be opened`));
