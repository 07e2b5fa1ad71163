/**
 * The HTTP handler of the page in the browser and of its API. Checks come in this order: the host and origin of the
 * request (DNS rebinding, other sites), whether this replica leads, the sign-in for everything but the files of the page,
 * the content type of actions. Only then is a request passed to `server/api/`, which checks what the client may read and do.
 * The files of the page are public, because they say nothing about the operator.
 */

import type { IncomingHttpHeaders } from 'node:http';
import {
  errorResponse,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  type RouteResponse,
} from '@addon-operator/http-server/response';
import type { RequestHandler, RequestOrigin, ServerRequest } from '@addon-operator/http-server/serve';
import type { StaticFiles } from '@addon-operator/http-server/static-files';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { API_ROUTES, type Api } from '../server/api/api.ts';
import { API_PREFIX } from '../server/api/api-handler.ts';
import { apiError } from '../server/api/api-response.ts';
import { RequestRefusal } from '../server/api/request-refusal.ts';
import type { Requester } from '../server/api/requester.ts';
import { standbyResponse } from '../server/api/standby-response.ts';
import type { UiSettings } from '../settings/ui-settings.ts';
import type { Standby } from '../status/standby.ts';
import type { SignIn } from './sign-in.ts';

/** The subject of the page: an operator, or a standby. */
export type UiContent =
  | { readonly api: Api; readonly kube: Pick<KubeClient, 'request'> }
  | { readonly standby: () => Standby };

/** What is served; without a sign-in for the page of a standby. */
export type ServedContent =
  | { readonly api: Api; readonly signIn: SignIn }
  | { readonly standby: () => Standby };

export interface UiHandlerOptions extends RequestGate {
  /** Called for each request. */
  readonly content: () => ServedContent;
  readonly files: StaticFiles;
  /** How people sign in; the page asks for it. */
  readonly auth: UiSettings['uiAuth'];
  /** Whether users of the page may act. */
  readonly hasActions: boolean;
}

interface UiRoute {
  readonly method: 'GET' | 'POST';
  /** `{name}` is one part of the path, `{rest}` for all that follows, slashes included. */
  readonly path: string;
  /** Shown to every user of this machine: it says nothing about the operator. */
  readonly isPublic: boolean;
}

/** Everything that is served; a path that is not here does not exist. */
export const UI_ROUTES: readonly UiRoute[] = [
  { method: 'GET', path: '/', isPublic: true },
  { method: 'GET', path: '/ui', isPublic: true },
  { method: 'GET', path: '/ui/{rest}', isPublic: true },
  ...API_ROUTES.map(({ method, path }) => ({ method, path: `${API_PREFIX}${path}`, isPublic: false })),
];

const COMPILED = UI_ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace('{name}', '[^/]+').replace('{rest}', '.*')}$`, 's'),
}));

const NOT_BUILT = errorResponse(
  503,
  'REQUEST_REFUSED',
  'The page was not built: run `npm run build` in the checkout of the operator, then load this again. Its API responds.',
);

/** Serves the page and its API. */
export function uiHandler(options: UiHandlerOptions): RequestHandler {
  return async (request, signal, origin) => {
    const isApi = request.path.startsWith('/api/');
    const refuse = (status: number, reason: string): RouteResponse =>
      isApi ? apiError(status, 'REQUEST_REFUSED', reason) : errorResponse(status, 'REQUEST_REFUSED', reason);
    const refusal = gateRefusal(origin.headers, !isApi, options);
    if (refusal !== undefined) return refuse(403, refusal);
    const content = options.content();
    // Needs no token: it is in `/status` as well, and a user who comes with the token of the leader has to learn it.
    if (isApi && 'standby' in content) return standbyResponse(content.standby());
    const matching = COMPILED.filter(({ pattern }) => pattern.test(request.path)).map(({ route }) => route);
    if (!matching.some(({ isPublic }) => isPublic)) {
      if (!isApi) return NOT_FOUND;
      // Unreachable, since a standby has responded above; it narrows the type.
      if ('standby' in content) return NOT_FOUND;
      const requester = await requesterOf(content.signIn, origin);
      if (requester instanceof RequestRefusal) return refuse(requester.status, requester.message);
      const isAction = matching.some(({ method }) => method === 'POST');
      if (isAction && request.method === 'POST' && !isJson(origin.headers['content-type']))
        return refuse(415, 'send the header "Content-Type: application/json"');
      return await content.api(request, signal, requester);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return METHOD_NOT_ALLOWED;
    return await pageResponse(options, request, origin);
  };
}

async function requesterOf(signIn: SignIn, origin: RequestOrigin): Promise<Requester | RequestRefusal> {
  try {
    return await signIn(origin);
  } catch (error) {
    if (error instanceof RequestRefusal) return error;
    throw error;
  }
}

/** Forms of pages elsewhere cannot send this type. */
function isJson(contentType: string | undefined): boolean {
  return /^application\/json(?:;|$)/i.test(contentType ?? '');
}

async function pageResponse(
  { files, hasActions, auth, content }: UiHandlerOptions,
  { path }: ServerRequest,
  { rawPath, headers }: RequestOrigin,
): Promise<RouteResponse> {
  // Relative, so that a prefix of a proxy stays.
  if (path === '/' || path === '/ui') return redirectResponse(path === '/ui' ? 'ui/' : './ui/');
  const name = path.slice('/ui/'.length);
  if (name.split('/').some((part) => part === '.' || part === '..')) return NOT_FOUND;
  const file = await files.file(name, headers['accept-encoding'] ?? '');
  if (file !== undefined) {
    const { contentType, bytes, encoding } = file;
    const isHashed = name.startsWith('assets/');
    return {
      status: 200,
      contentType,
      body: '',
      bytes,
      headers: {
        'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
        Vary: 'Accept-Encoding',
        ...(encoding !== undefined && { 'Content-Encoding': encoding }),
      },
    };
  }
  if (name.startsWith('assets/')) return NOT_FOUND;
  const html = await files.index();
  if (html === undefined) return NOT_BUILT;
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: pageFor(html, rawPath.slice('/ui/'.length), {
      actions: hasActions,
      standby: 'standby' in content(),
      auth,
    }),
  };
}

function redirectResponse(location: string): RouteResponse {
  return {
    status: 302,
    contentType: 'text/plain; charset=utf-8',
    body: '',
    headers: { Location: location },
  };
}

/**
 * The page as it is sent for one path. All its addresses are relative to the directory of the page, wherever a proxy puts
 * that: only the number of directories below it is known here.
 *
 * @param html `index.html` as it was built
 * @param rawPath below the directory of the page, with percent escapes: an escaped slash is part of a name
 * @param marks what the page reads from a `<meta>` of that name: whether it may offer `actions`, and whether the replica is
 *   a `standby`, and how people sign in where that is not a token in the address
 */
export function pageFor(
  html: string,
  rawPath: string,
  {
    actions,
    standby,
    auth,
  }: { readonly actions: boolean; readonly standby: boolean; readonly auth: UiSettings['uiAuth'] },
): string {
  const base = `<base href="${'../'.repeat(rawPath.split('/').length - 1) || './'}">`;
  const marks = [
    ...(actions ? [['actions', 'on']] : []),
    ...(standby ? [['standby', 'on']] : []),
    ...(auth === 'token' ? [] : [['sign-in', auth]]),
  ];
  const metas = marks.map(([name, value]) => `<meta name="${name}" content="${value}">`).join('');
  return html.replace(/<base\b[^>]*>/gi, '').replace(/<head\b[^>]*>/i, (head) => `${head}${base}${metas}`);
}

interface RequestGate {
  /** Names of hosts, besides this machine, under which browsers may reach the page. */
  readonly allowedHosts: readonly string[];
}

type GateHeaders = Pick<IncomingHttpHeaders, 'host' | 'origin'> & {
  readonly 'sec-fetch-site'?: string | string[] | undefined;
  readonly 'sec-fetch-mode'?: string | string[] | undefined;
  readonly 'sec-fetch-dest'?: string | string[] | undefined;
};

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Why a request is refused, from any client; undefined if it may pass. A name that is not allowed is what DNS rebinding
 * looks like. Any port is right: `kubectl port-forward` takes the one the user likes. A page of another origin may open
 * ours by a link, and nothing else.
 *
 * @param isPage whether the response is the page itself, which a link may open
 */
export function gateRefusal(
  headers: GateHeaders,
  isPage: boolean,
  { allowedHosts }: RequestGate,
): string | undefined {
  const { host = '', origin } = headers;
  const [, name] = /^(\[[\da-f:]+\]|[\w.-]+)(?::\d{1,5})?$/i.exec(host) ?? [];
  if (name === undefined || !isAllowed(name.toLowerCase(), allowedHosts))
    return `403 forbidden: the host "${host.slice(0, 100)}" is not allowed, see --ui-allowed-hosts`;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return undefined;
  if (site !== undefined) {
    const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    if (isPage && isLink && origin === undefined) return undefined;
  } else if (origin === undefined || hostOf(origin) === host.toLowerCase()) return undefined;
  return '403 forbidden: the request comes from a page of another origin';
}

function isAllowed(name: string, allowedHosts: readonly string[]): boolean {
  return LOOPBACK.test(name) || allowedHosts.some((allowed) => allowed.toLowerCase() === name);
}

/** Undefined for `null`, which browsers send for origins that are to stay secret. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
