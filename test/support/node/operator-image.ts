import { isPresent } from '../control-plane/go-programs.ts';
import type { FindOptions } from '../control-plane/programs.ts';

/** The name of the operator's image on a test node. */
export const OPERATOR_IMAGE = 'localhost/addon-operator:latest';

/** The docker-archive that `ADDON_OPERATOR_IMAGE_ARCHIVE` names. Throws when there is none. */
export async function findOperatorImage({ env }: FindOptions, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const archive = env['ADDON_OPERATOR_IMAGE_ARCHIVE'] ?? '';
  if (archive !== '' && (await isPresent(archive))) return archive;
  throw new Error(
    archive === ''
      ? "ADDON_OPERATOR_IMAGE_ARCHIVE does not name an archive of the operator's image"
      : `There is no archive of the operator's image at ${archive} (ADDON_OPERATOR_IMAGE_ARCHIVE)`,
  );
}
