import { readFile } from 'node:fs/promises';
import { messageOf } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { requestDebug } from '../../server/debug-client.ts';
import { addressFileOf } from '../../ui/address-file.ts';
import { type CliHost, fail } from '../cli-host.ts';

/**
 * Prints the address of the page of a running operator, and returns the exit code.
 *
 * @throws OperatorError DEBUG_SOCKET when no operator responds on the socket: a file that a killed one left would be wrong
 */
export async function printPageAddress(socketPath: string, host: CliHost): Promise<number> {
  await requestDebug({ socketPath, path: '/' }, host.clock);
  try {
    host.stdout.write(await readFile(addressFileOf(socketPath), 'utf8'));
    return 0;
  } catch (error) {
    return fail(
      host,
      isMissingFile(error)
        ? 'the page is off: start the operator with --ui loopback (ADDON_OPERATOR_UI=loopback)'
        : `cannot read the address of the page: ${messageOf(error)}`,
      'REQUEST_REFUSED',
    );
  }
}
