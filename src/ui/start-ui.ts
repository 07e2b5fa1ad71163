import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import type { Clock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { componentLog, type Logger } from '@addon-operator/base/log';
import { serve } from '@addon-operator/http-server/serve';
import { StaticFiles } from '@addon-operator/http-server/static-files';
import type { DebugEndpointSettings } from '../settings/debug-settings.ts';
import type { UiSettings } from '../settings/ui-settings.ts';
import { AccessReviews } from './access-reviews.ts';
import { addressFileOf, readKeptToken, writeAddressFile } from './address-file.ts';
import { kubernetesSignIn, proxySignIn, type SignIn, sharedTokenSignIn } from './sign-in.ts';
import { type ServedContent, type UiContent, uiHandler } from './ui-handler.ts';

export interface UiOptions {
  readonly settings: Omit<UiSettings, 'ui'> & Pick<DebugEndpointSettings, 'debugUnixSocket'>;
  /** The subject of the page at first. */
  readonly content: UiContent;
  /** Where the built page lies, absolute. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Resources that must be closed are added here. */
  readonly running: AsyncDisposableStack;
}

export interface UiServer {
  /** With the token, where all clients share one. */
  readonly address: string;
  /** From now on the page is about this. */
  readonly show: (content: UiContent) => void;
  readonly stop: () => Promise<void>;
}

const HOST = '127.0.0.1';
const TOKEN_BYTES = 32;

/**
 * Serves the page and its API to this machine. The settings say who may use it. The address is also in a file beside the debug
 * socket, which our user alone can read.
 *
 * @throws OperatorError HTTP_LISTEN when the port is in use or the file cannot be written
 */
export async function startUi({
  settings,
  content: first,
  directory,
  clock,
  log: parent,
  running,
}: UiOptions): Promise<UiServer> {
  const { uiPort, uiAllowedHosts: allowedHosts, hasUiActions: hasActions, uiAuth: auth } = settings;
  const log = componentLog({ log: parent }, 'ui');
  const file = addressFileOf(settings.debugUnixSocket);
  // Open pages continue to work after a crash of the operator.
  const token = (await readKeptToken(file)) ?? randomBytes(TOKEN_BYTES).toString('base64url');
  try {
    const served = (content: UiContent): ServedContent =>
      'standby' in content
        ? content
        : { api: content.api, signIn: signInOf({ settings, clock, log, token, kube: content.kube }) };
    let content = served(first);
    const files = new StaticFiles(directory);
    const handler = uiHandler({ allowedHosts, hasActions, auth, content: () => content, files });
    const server = await serve({ host: HOST, port: uiPort }, handler, log, SECURITY_HEADERS);
    running.defer(() => server.stop());
    const address = `http://${HOST}:${server.port}/ui/`;
    const opened = auth === 'token' ? `${address}#token=${token}` : address;
    running.defer(() => rm(file, { force: true }));
    await writeAddressFile(file, opened);
    const what = auth === 'token' ? 'its address with the token' : 'its address';
    log.info({ address, auth }, `the page is served, \`addon-operator ui\` prints ${what}`);
    return {
      address: opened,
      show: (next) => {
        content = served(next);
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

interface SignInParts extends Pick<UiOptions, 'settings' | 'clock' | 'log'> {
  readonly token: string;
  readonly kube: Extract<UiContent, { api: unknown }>['kube'];
}

/** The one way to sign in that the settings name. */
function signInOf({ settings, clock, log, token, kube }: SignInParts): SignIn {
  const { hasUiActions: hasActions, uiTokenAudiences: audiences, uiProxySecretFile } = settings;
  const options = { clock, hasActions };
  switch (settings.uiAuth) {
    case 'token':
      return sharedTokenSignIn(token, options);
    case 'kubernetes':
      return kubernetesSignIn(new AccessReviews({ kube, clock, audiences }), options);
    case 'proxy': {
      const readSecret = async (): Promise<string> => (await readFile(uiProxySecretFile, 'utf8')).trim();
      const reviews = new AccessReviews({ kube, clock, audiences: [] });
      return proxySignIn(reviews, settings, { ...options, readSecret, log });
    }
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
