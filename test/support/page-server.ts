import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { serve } from '@addon-operator/http-server/serve';
import { StaticFiles } from '@addon-operator/http-server/static-files';
import { Redactor } from '@addon-operator/masking/redactor';
import { onTestFinished } from 'vitest';
import type { RequestedAction } from '../../src/server/api/action-response.ts';
import { createApi } from '../../src/server/api/api.ts';
import type { UiSettings } from '../../src/settings/ui-settings.ts';
import type { DaemonView } from '../../src/status/daemon-view.ts';
import type { Standby } from '../../src/status/standby.ts';
import { type SignIn, type SignInOptions, sharedTokenSignIn } from '../../src/ui/sign-in.ts';
import { SECURITY_HEADERS } from '../../src/ui/start-ui.ts';
import { uiHandler } from '../../src/ui/ui-handler.ts';
import { daemonView, NO_COMMANDS } from './daemon-view-stub.ts';
import { FakeClock } from './fake-clock.ts';

/** The token of a page that has one for all clients. */
export const TOKEN = 'right-token';
export const HTML = '<!doctype html><html><head><title>page</title></head></html>';

export interface StartOptions {
  readonly view?: Partial<DaemonView>;
  readonly isBuilt?: boolean;
  readonly hasActions?: boolean;
  readonly standby?: Standby;
  readonly auth?: UiSettings['uiAuth'];
  /** Default: the shared token. */
  readonly signIn?: (options: SignInOptions) => SignIn;
}

export interface PageServer {
  readonly port: number;
  readonly clock: FakeClock;
  /** Actions that were carried out. */
  readonly actions: readonly RequestedAction[];
}

/** Serves the page and its API over a view that is a stub, as the operator does. */
export async function startPage({
  view,
  isBuilt = true,
  hasActions = false,
  standby,
  auth = 'token',
  signIn = (options) => sharedTokenSignIn(TOKEN, options),
}: StartOptions = {}): Promise<PageServer> {
  const directory = mkdtempSync(join(tmpdir(), 'ui-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  if (isBuilt) {
    mkdirSync(join(directory, 'assets'));
    writeFileSync(join(directory, 'index.html'), HTML);
    writeFileSync(join(directory, 'favicon.svg'), '<svg/>');
    writeFileSync(join(directory, 'assets/a-1.js'), 'plain');
    writeFileSync(join(directory, 'assets/a-1.js.br'), 'small');
  }
  const redactor = new Redactor();
  redactor.add('s3cret-value');
  const clock = new FakeClock();
  const actions: RequestedAction[] = [];
  const api = createApi({
    view: daemonView(view),
    ...NO_COMMANDS,
    identity: { ...NO_COMMANDS.identity, clock },
    requestOperation: () => 'requested',
    parameters: { list: () => [] },
    redactor,
    onAction: (action) => void actions.push(action),
  });
  const content = { api, signIn: signIn({ clock, hasActions }) };
  const handler = uiHandler({
    content: () => (standby === undefined ? content : { standby: () => standby }),
    files: new StaticFiles(directory),
    auth,
    allowedHosts: [],
    hasActions,
  });
  const server = await serve({ host: '127.0.0.1', port: 0 }, handler, silentLogger, SECURITY_HEADERS);
  onTestFinished(() => server.stop());
  return { port: server.port, clock, actions };
}

const RECONCILE = { action: 'reconcile' };
/** The stub has this hook. */
const TRIGGER = { action: 'trigger-hook', hook: 'a b', binding: 'onStartup' };

export interface PageResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with just these headers: `fetch` sets some itself, and normalizes paths. */
export async function ask(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<PageResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<PageResponse>();
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    const done = (): void =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks).toString(),
      });
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      // A stream has no end.
      if (response.headers['content-type'] === 'text/event-stream') done();
    });
    response.on('end', done);
  });
  sent.on('error', reject);
  const action = path.includes('/modules/') ? RECONCILE : TRIGGER;
  sent.end(method === 'POST' ? JSON.stringify(action) : undefined);
  onTestFinished(() => void sent.destroy());
  return await promise;
}
