import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { componentLog, type Logger } from '@addon-operator/base/log';
import { serve } from '@addon-operator/http-server/serve';
import { StaticFiles } from '@addon-operator/http-server/static-files';
import type { DebugEndpointSettings } from '../settings/debug-settings.ts';
import type { UiSettings } from '../settings/ui-settings.ts';
import { addressFileOf, readKeptToken, writeAddressFile } from './address-file.ts';
import { type UiContent, uiHandler } from './ui-handler.ts';

export interface UiOptions {
  readonly settings: Omit<UiSettings, 'ui'> & Pick<DebugEndpointSettings, 'debugUnixSocket'>;
  /** The subject of the page at first. */
  readonly content: UiContent;
  /** Where the built page lies, absolute. */
  readonly directory: string;
  readonly log: Logger;
  /** Resources that must be closed are added here. */
  readonly running: AsyncDisposableStack;
}

export interface UiServer {
  /** With the token. */
  readonly address: string;
  /** From now on the page is about this. */
  readonly show: (content: UiContent) => void;
  readonly stop: () => Promise<void>;
}

const HOST = '127.0.0.1';
const TOKEN_BYTES = 32;

/**
 * Serves the page and its API to this machine. A client that knows the token in its address may read everything. The
 * address is also in a file beside the debug socket, which our user alone can read.
 *
 * @throws OperatorError HTTP_LISTEN when the port is in use or the file cannot be written
 */
export async function startUi({
  settings,
  content: first,
  directory,
  log: parent,
  running,
}: UiOptions): Promise<UiServer> {
  const { uiPort, uiAllowedHosts: allowedHosts, hasUiActions: hasActions, debugUnixSocket } = settings;
  const log = componentLog({ log: parent }, 'ui');
  const file = addressFileOf(debugUnixSocket);
  // Open pages continue to work after a crash of the operator.
  const token = (await readKeptToken(file)) ?? randomBytes(TOKEN_BYTES).toString('base64url');
  try {
    let content = first;
    const gate = { allowedHosts, hasActions, token };
    const handler = uiHandler({ ...gate, content: () => content, files: new StaticFiles(directory) });
    const server = await serve({ host: HOST, port: uiPort }, handler, log, SECURITY_HEADERS);
    running.defer(() => server.stop());
    const address = `http://${HOST}:${server.port}/ui/`;
    running.defer(() => rm(file, { force: true }));
    await writeAddressFile(file, `${address}#token=${token}`);
    log.info({ address }, 'the page is served, `addon-operator ui` prints its address with the token');
    return {
      address: `${address}#token=${token}`,
      show: (next) => {
        content = next;
      },
      stop: () => server.stop(),
    };
  } catch (error) {
    throw new OperatorError(
      'HTTP_LISTEN',
      `Cannot serve the page on ${HOST}:${uiPort} (--ui, --ui-port): ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Sent with every response of the page: nothing may be loaded from elsewhere, framed, sniffed or kept. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};
