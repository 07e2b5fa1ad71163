import { readFile } from 'node:fs/promises';
import { messageOf } from '@addon-operator/base/errors';
import { untilAborted } from '@addon-operator/concurrency/result-or-abort';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { requestDebug } from '../../server/debug-client.ts';
import { addressFileOf } from '../../ui/address-file.ts';
import { type CliHost, fail, type RemoteOperator } from '../cli-host.ts';
import { openBrowser } from './open-browser.ts';

/** The command `ui`. */
export interface PageOptions {
  readonly socketPath: string;
  /** Also opens the page in the browser of this machine. */
  readonly opensBrowser: boolean;
}

/**
 * Prints the address of the page of a running operator, and returns the exit code. The page of an operator in a cluster is
 * available until Ctrl-C.
 *
 * @throws OperatorError DEBUG_SOCKET when no operator responds on the socket: a file that a killed one left would be wrong
 */
export async function printPageAddress(
  { socketPath, opensBrowser }: PageOptions,
  host: CliHost,
): Promise<number> {
  const { remote } = host;
  if (remote !== undefined) return await showRemotePage(remote, opensBrowser, host);
  await requestDebug({ socketPath, path: '/' }, host.clock);
  let address: string;
  try {
    address = await readFile(addressFileOf(socketPath), 'utf8');
  } catch (error) {
    return fail(
      host,
      isMissingFile(error)
        ? 'the page is off: start the operator with --ui loopback (ADDON_OPERATOR_UI=loopback)'
        : `cannot read the address of the page: ${messageOf(error)}`,
      'REQUEST_REFUSED',
    );
  }
  await show(address, opensBrowser, host);
  return 0;
}

async function showRemotePage(remote: RemoteOperator, opensBrowser: boolean, host: CliHost): Promise<number> {
  await show(await forwarded(remote), opensBrowser, host);
  host.stderr.write('The page is available here until Ctrl-C.\n');
  await untilAborted(host.stopSignal());
  return 0;
}

async function show(address: string, opensBrowser: boolean, host: CliHost): Promise<void> {
  host.stdout.write(address);
  if (opensBrowser) await openBrowser(address.trim(), host);
}

/** The token stays the same, the port becomes a local one. */
async function forwarded(remote: RemoteOperator): Promise<string> {
  const address = new URL((await remote.run(['ui'])).trim());
  address.hostname = '127.0.0.1';
  address.port = String(await remote.forward(Number(address.port)));
  return `${address.href}\n`;
}
