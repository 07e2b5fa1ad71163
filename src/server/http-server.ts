/**
 * The public HTTP server of the pod: `/metrics` for Prometheus, `/healthz` and `/readyz` for the kubelet, `/status` for
 * people. It is started before the operator leads or has read anything (`start-probes.ts`), and gets its
 * content through the functions in its options. Everything is read only and needs no authentication, so no route returns
 * values.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import {
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  type RouteResponse,
  textResponse,
} from '@addon-operator/http-server/response';
import {
  type RequestHandler,
  type RunningServer,
  type ServerRequest,
  serve,
} from '@addon-operator/http-server/serve';
import type { DaemonView } from '../status/daemon-view.ts';
import { convergeResponse, readinessResponse, statusResponse } from './probe-responses.ts';

export interface HttpServerOptions {
  readonly address: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly view: Pick<DaemonView, 'readiness' | 'convergeStatus' | 'status'>;
  /** The metrics of the daemon, in the Prometheus text format. */
  readonly operatorMetrics: () => Promise<string>;
  /** The metrics that hooks emitted, in the same format. */
  readonly hookMetrics: () => string;
  readonly log: Logger;
}

/** The text format of Prometheus. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The public HTTP server: metrics, probes and the status of the converge, all of them read only.
 *
 * @throws OperatorError HTTP_LISTEN when the address is in use or not ours
 */
export async function startHttpServer(options: HttpServerOptions): Promise<RunningServer> {
  const { address, port, log } = options;
  try {
    return await serve({ host: address, port }, createHandler(options), log);
  } catch (error) {
    throw new OperatorError(
      'HTTP_LISTEN',
      `Cannot listen on ${address}:${port} (--prometheus-listen-address, --prometheus-listen-port): ${messageOf(error)}`,
      { cause: error },
    );
  }
}

type Route = (request: ServerRequest, signal: AbortSignal) => RouteResponse | Promise<RouteResponse>;

/** Exact paths only; HEAD is accepted wherever GET is. */
function createHandler({ view, operatorMetrics, hookMetrics }: HttpServerOptions): RequestHandler {
  // The type is repeated so that the first route may refer to the map that it is part of.
  const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    [
      '/',
      () => ({ status: 200, contentType: 'text/html; charset=utf-8', body: indexPage([...routes.keys()]) }),
    ],
    ['/metrics', async () => ({ status: 200, contentType: METRICS_TYPE, body: await operatorMetrics() })],
    ['/metrics/hooks', () => ({ status: 200, contentType: METRICS_TYPE, body: hookMetrics() })],
    ['/healthz', () => textResponse('')],
    [
      '/readyz',
      async ({ query }, signal) =>
        readinessResponse(await view.readiness(signal), query.has('verbose') ? view.status() : undefined),
    ],
    [
      '/status',
      ({ query }) => statusResponse(view.status(), query.get('output') === 'json' ? 'json' : 'text'),
    ],
    [
      '/status/converge',
      ({ query }) =>
        convergeResponse(view.convergeStatus(), query.get('output') === 'json' ? 'json' : 'text'),
    ],
    ['/discovery', () => textResponse([...routes.keys()].map((path) => `GET ${path}\n`).join(''))],
  ]);
  return (request, signal) => {
    const route = routes.get(request.path);
    if (route === undefined) return NOT_FOUND;
    if (request.method !== 'GET' && request.method !== 'HEAD') return METHOD_NOT_ALLOWED;
    return route(request, signal);
  };
}

/** Links to all paths, for a person who opens the port in a browser. */
function indexPage(paths: readonly string[]): string {
  const links = paths.filter((path) => path !== '/').map((path) => `<li><a href="${path}">${path}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Addon-operator</title></head>
<body>
<h1>Addon-operator</h1>
<ul>
${links.join('\n')}
</ul>
</body>
</html>
`;
}
