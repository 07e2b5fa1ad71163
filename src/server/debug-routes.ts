/**
 * The table of routes of the debug endpoint, as the original has them, and the forwarding of `/api/v1` to `api/api.ts`.
 * `debug-server.ts` serves it on the unix socket (everything) and on TCP (read only). A route gets the request and the
 * parts of its path, and returns a response; what it throws becomes status 500 with the code of the error. Each response
 * passes the redactor last, so no route has to remember secrets.
 */

import { errorText } from '@addon-operator/base/error-text';
import { OperatorError } from '@addon-operator/base/errors';
import {
  dataResponse,
  errorResponse,
  type Format,
  failureResponse,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  type RouteResponse,
  redactedResponse,
  textResponse,
} from '@addon-operator/http-server/response';
import type { RequestOrigin, ServerRequest } from '@addon-operator/http-server/serve';
import { canonicalJson, parseJson } from '@addon-operator/json';
import type { LogTail } from '@addon-operator/logging/log-tail';
import type { Redactor } from '@addon-operator/masking/redactor';
import { oneLine } from '@addon-operator/strings/escape-controls';
import { rfc3339 } from '@addon-operator/strings/rfc3339';
import type { Recorder } from '../recordings/recorder.ts';
import type { RuntimeParameterView } from '../settings/runtime-parameters.ts';
import type { DaemonView, ModuleView, SectionView } from '../status/daemon-view.ts';
import type { RollbackModule } from '../status/module-rollback.ts';
import type { SetFlag } from '../status/set-flag.ts';
import { ACTION_CLIENTS, CLIENT_HEADER } from './action-clients.ts';
import { type Api, createApi } from './api/api.ts';
import { API_PREFIX, queuesData } from './api/api-handler.ts';
import type { OperatorIdentity } from './api/api-route.ts';
import { trustedRequester } from './api/requester.ts';
import {
  hookAbortResponse,
  hookRecordResponse,
  hookTriggerResponse,
  type TaskCommands,
} from './hook-responses.ts';
import { moduleGraph } from './module-graph.ts';
import {
  explainResponse,
  listResponse,
  noModuleResponse,
  type PauseCommands,
  pauseResponse,
  type ReleaseFinalizer,
  releaseFinalizerResponse,
  resumeResponse,
} from './module-responses.ts';
import { operationResponse, type RequestOperation } from './operation-response.ts';
import { statusResponse } from './probe-responses.ts';
import { queueData, queueListData, queueListText, queueText } from './queue-dump.ts';
import { queueRetryResponse } from './queue-retry-response.ts';
import {
  confirmFilesResponse,
  confirmPurgeResponse,
  type ReleaseCommands,
  releaseUnlockResponse,
} from './release-responses.ts';
import { rollbackResponse } from './rollback-response.ts';

/** The parts of the operator that the debug endpoint shows and changes. */
export interface DebugEndpoint {
  readonly view: DaemonView;
  readonly parameters: {
    list(): readonly RuntimeParameterView[];
    /** Throws with the reason when it refuses. */
    set(name: string, value: string, duration: string): void;
  };
  readonly pauses: PauseCommands;
  readonly releaseFinalizer: ReleaseFinalizer;
  readonly requestOperation: RequestOperation;
  readonly rollback: RollbackModule;
  readonly tasks: TaskCommands;
  readonly setFlag: SetFlag;
  /** Names of the hooks in operation, with `<module>/` in front of those of modules. */
  readonly hooks: () => readonly string[];
  readonly recorder: Pick<Recorder, 'serve' | 'sendFailed' | 'keptFailures'>;
  readonly releases: ReleaseCommands;
  readonly identity: OperatorIdentity;
  /** The settings, for commands that look at what the operator works on. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The log that can be followed. */
  readonly log?: LogTail | undefined;
  /** Masks secrets in responses. */
  readonly redactor?: Pick<Redactor, 'json' | 'revision' | 'text'>;
}

/** Pictures are not rendered here: `dot` does that from the text. */
const NO_GRAPH_PICTURE = errorResponse(
  501,
  'REQUEST_INVALID',
  'rendering pictures is not supported: request /graph?format=text and pipe it to "dot -Tpng"',
);

/** Handles a request of a route whose pattern matched. Errors become status 500. */
type Handler = (
  request: ServerRequest,
  groups: Groups,
  signal: AbortSignal,
) => RouteResponse | Promise<RouteResponse>;

/** The variable parts of the path, as the pattern of the route found them. */
interface Groups {
  readonly format: Format;
  readonly module: string;
}

/** One method and one path; two routes may have the same path. */
interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly pattern: RegExp;
  readonly handle: Handler;
}

/**
 * Handles debug requests: queues, runtime parameters, values, patches, snapshots, rendered charts, pauses, operations.
 *
 * @param isReadOnly whether every POST is refused
 * @param api answers `/api/v1`
 */
export function debugHandler(
  endpoint: DebugEndpoint,
  isReadOnly: boolean,
  api: Api = createApi(endpoint),
): (request: ServerRequest, signal: AbortSignal, origin?: RequestOrigin) => Promise<RouteResponse> {
  const routes = [
    ...daemonRoutes(endpoint),
    ...globalRoutes(endpoint),
    ...moduleRoutes(endpoint),
    ...pauseRoutes(endpoint),
    releaseFinalizerRoute(endpoint),
    operationRoute(endpoint),
    rollbackRoute(endpoint),
    get('/hook/list.{format}', (_request, { format }) =>
      dataResponse(dataFormat(format), { hooks: endpoint.hooks().toSorted() }),
    ),
    post('/queue/retry', ({ body }) =>
      queueRetryResponse(endpoint.tasks.retryHead, new URLSearchParams(body)),
    ),
    post('/hook/abort', ({ body }) => hookAbortResponse(endpoint.tasks.abortHook, new URLSearchParams(body))),
    post('/hook/record', ({ body }) => hookRecordResponse(endpoint, new URLSearchParams(body))),
    post('/hook/trigger', ({ body }) =>
      hookTriggerResponse(endpoint.tasks.triggerHook, new URLSearchParams(body)),
    ),
    ...releaseRoutes(endpoint),
  ];
  // Last, because it lists the others.
  routes.push(discoveryRoute(routes));
  const { redactor } = endpoint;
  const shown = (response: RouteResponse): RouteResponse =>
    redactor === undefined ? response : redactedResponse(response, redactor);
  return async (request, signal, origin) => {
    if (request.path.startsWith(`${API_PREFIX}/`))
      return await api(request, signal, trustedRequester(clientOf(origin), { allowsActions: !isReadOnly }));
    // Of a path that is known only with another method the client learns that the method is wrong, not the path.
    const matching = routes.filter((route) => route.pattern.test(request.path));
    const route = matching.find(({ method }) => method === request.method);
    if (matching.length === 0) return NOT_FOUND;
    if (route === undefined || (isReadOnly && route.method !== 'GET')) return METHOD_NOT_ALLOWED;
    const groups = route.pattern.exec(request.path)?.groups;
    try {
      const response = await route.handle(
        request,
        { format: formatOf(groups?.['format']), module: groups?.['module'] ?? '' },
        signal,
      );
      return shown(response);
    } catch (error) {
      return shown(failureResponse(500, error));
    }
  };
}

/** Routes about the daemon as a whole: status, queues, the graph of modules, runtime parameters. */
function daemonRoutes({ view, parameters, settings }: DebugEndpoint): Route[] {
  return [
    get('/', () => textResponse('debug endpoint is alive\n')),
    get('/status.{format}', (_request, { format }) => statusResponse(view.status(), format)),
    get('/settings.{format}', (_request, { format }) => dataResponse(dataFormat(format), settings)),
    get('/delivery.{format}', (_request, { format }) => dataResponse(dataFormat(format), view.delivery())),
    get('/queue/main.{format}', (_request, { format }) => {
      const main = view.queues().find(({ name }) => name === 'main') ?? {
        name: 'main',
        status: '',
        tasks: [],
      };
      return format === 'text'
        ? textResponse(queueText(main, view.runningHooks()))
        : dataResponse(format, queueData(main));
    }),
    get('/queue/list.{format}', ({ query }, { format }) => {
      // The table of the command needs more of each task than the original's data has.
      if (isYes(query.get('tasks')))
        return dataResponse(dataFormat(format), { queues: queuesData(view), ...view.unfinishedRuns() });
      const showEmpty = isYes(query.get('showEmpty'));
      const names = query.getAll('queue');
      const queues = view.queues().filter(({ name }) => names.length === 0 || names.includes(name));
      const unfinished = view.unfinishedRuns();
      if (format === 'text')
        return textResponse(queueListText(queues, showEmpty, view.runningHooks(), unfinished));
      return dataResponse(format, queueListData(queues, showEmpty, unfinished));
    }),
    get('/graph', ({ query }) =>
      query.get('format') === 'text' ? textResponse(moduleGraph(view.moduleGraph())) : NO_GRAPH_PICTURE,
    ),
    get('/access/patches.{format}', (_request, { format }) =>
      dataResponse(dataFormat(format), view.patchAccess()),
    ),
    get('/config/list.{format}', (_request, { format }) => {
      const list = parameters.list();
      return format === 'text'
        ? textResponse(parameterTable(list))
        : dataResponse(format, list.map(parameterData));
    }),
    post('/config/set', ({ body }) => setParameter(parameters, new URLSearchParams(body))),
  ];
}

/** `POST /config/set` with `name`, `value` and optionally `duration`; an empty body is success. */
function setParameter(parameters: DebugEndpoint['parameters'], form: URLSearchParams): RouteResponse {
  const name = form.get('name') ?? '';
  if (name === '') return errorResponse(400, 'REQUEST_INVALID', "'name' parameter is required");
  try {
    parameters.set(name, form.get('value') ?? '', form.get('duration') ?? '');
    return textResponse('');
  } catch (error) {
    return errorResponse(400, 'REQUEST_INVALID', errorText(error));
  }
}

/** Routes below `/global`. */
function globalRoutes({ view }: DebugEndpoint): Route[] {
  return [
    get('/global/list.{format}', (_request, { format }) =>
      dataResponse(dataFormat(format), { globalHooks: view.globalHooks().toSorted() }),
    ),
    ...sectionRoutes(
      '/global',
      () => view.global,
      (section) => section.values(),
      (section) => section.configValues(),
    ),
  ];
}

/** Routes below `/module`. An unknown name gives MODULE_UNKNOWN with the complaint of the original. */
function moduleRoutes({ view }: DebugEndpoint): Route[] {
  const moduleOf = ({ module: name }: Groups, complaint = 'module not found'): ModuleView => {
    const module = view.module(name);
    if (module === undefined) throw new OperatorError('MODULE_UNKNOWN', complaint);
    return module;
  };
  const withGlobal = (
    request: ServerRequest,
    module: ModuleView,
    own: object,
    global: () => object,
  ): object => (isYes(request.query.get('global')) ? { global: global(), [module.valuesKey]: own } : own);
  return [
    get('/module/list.{format}', ({ query }, { format }) => {
      if (isYes(query.get('problems'))) return listResponse(view, format, true);
      if (isYes(query.get('all'))) return listResponse(view, format);
      const enabledModules = view.enabledModules().toSorted();
      return dataResponse(dataFormat(format), { enabledModules });
    }),
    get('/module/resource-monitor.{format}', async (_request, { format }, signal) => {
      const resources = Object.entries(await view.monitoredResources(signal)).map(([name, objects]) => [
        name,
        objects?.toSorted() ?? 'No monitor',
      ]);
      return sortedResponse(dataFormat(format), Object.fromEntries(resources));
    }),
    get('/module/{module}/explain.{format}', (_request, { module, format }, signal) =>
      explainResponse(view, module, format, signal),
    ),
    get('/module/{module}/render', async ({ query }, groups, signal) => {
      const options = { isDebug: isYes(query.get('debug')), isDiff: isYes(query.get('diff')) };
      return textResponse(await moduleOf(groups).render(options, signal));
    }),
    ...sectionRoutes(
      '/module/{module}',
      moduleOf,
      (module, request) => withGlobal(request, module, module.values(), () => view.global.values()),
      (module, request) =>
        withGlobal(request, module, module.configValues(), () => view.global.configValues()),
    ),
  ];
}

/** Pauses and resumes of one module or of all. */
function pauseRoutes({ view, pauses }: DebugEndpoint): Route[] {
  return [
    post('/pause', ({ body }, _groups, signal) =>
      pauseResponse(pauses, undefined, new URLSearchParams(body), signal),
    ),
    post('/resume', (_request, _groups, signal) => resumeResponse({ view, pauses }, undefined, signal)),
    post('/module/{module}/pause', ({ body }, { module }, signal) =>
      view.module(module) === undefined
        ? noModuleResponse(module)
        : pauseResponse(pauses, module, new URLSearchParams(body), signal),
    ),
    post('/module/{module}/resume', (_request, { module }, signal) =>
      resumeResponse({ view, pauses }, module, signal),
    ),
  ];
}

/** Requests a run, a forced run or an abort of one module. */
function operationRoute({ view, requestOperation }: DebugEndpoint): Route {
  return post('/module/{module}/operation', ({ body }, { module }) =>
    view.module(module) === undefined
      ? noModuleResponse(module)
      : operationResponse(requestOperation, module, new URLSearchParams(body)),
  );
}

/** Takes one module back to an earlier revision. */
function rollbackRoute({ view, rollback }: DebugEndpoint): Route {
  return post('/module/{module}/rollback', ({ body }, { module }, signal) =>
    view.module(module) === undefined
      ? noModuleResponse(module)
      : rollbackResponse(rollback, module, new URLSearchParams(body), signal),
  );
}

/** Also for a module that has no directory any more. */
function releaseFinalizerRoute({ releaseFinalizer }: DebugEndpoint): Route {
  return post('/module/{module}/release-finalizer', (_request, { module }, signal) =>
    releaseFinalizerResponse(releaseFinalizer, module, signal),
  );
}

/** Also for releases of modules that have no directory any more. */
function releaseRoutes({ releases }: DebugEndpoint): Route[] {
  return [
    post('/module/confirm-purge', (_request, _groups, signal) => confirmPurgeResponse(releases, signal)),
    post('/module/{module}/confirm-files', (_request, { module }) => confirmFilesResponse(releases, module)),
    post('/module/{module}/release-unlock', (_request, { module }, signal) =>
      releaseUnlockResponse(releases, module, signal),
    ),
  ];
}

/** The routes that `global` and every module have. */
function sectionRoutes<S extends SectionView>(
  prefix: string,
  sectionOf: (groups: Groups, complaint?: string) => S,
  valuesOf: (section: S, request: ServerRequest) => object,
  configValuesOf: (section: S, request: ServerRequest) => object,
): Route[] {
  return [
    get(`${prefix}/values.{format}`, (request, groups) =>
      sortedResponse(dataFormat(groups.format), valuesOf(sectionOf(groups), request)),
    ),
    get(`${prefix}/config.{format}`, (request, groups) =>
      sortedResponse(dataFormat(groups.format), configValuesOf(sectionOf(groups), request)),
    ),
    get(`${prefix}/patches.{format}`, (_request, groups) =>
      dataResponse(
        dataFormat(groups.format),
        sectionOf(groups, `unknown module ${groups.module}`).patches() ?? null,
      ),
    ),
    get(`${prefix}/snapshots.{format}`, (_request, groups) =>
      sortedResponse(dataFormat(groups.format), sectionOf(groups).snapshots()),
    ),
  ];
}

/** Lists the routes of `/global` and `/module`, as the original does. */
function discoveryRoute(routes: readonly Route[]): Route {
  const lines = routes
    .filter(({ path }) => path.startsWith('/global/') || path.startsWith('/module/'))
    .map(({ method, path }) => `${method} ${path}\n`);
  return get('/discovery', () => textResponse(lines.join('')));
}

/** `{format}` and `{module}` in a path become groups of its pattern. */
function get(path: string, handle: Handler): Route {
  const source = path
    .replace('.{format}', String.raw`\.(?<format>json|yaml|text)`)
    .replace('{module}', '(?<module>[^/]+)');
  return { method: 'GET', path, pattern: new RegExp(`^${source}$`), handle };
}

function post(path: string, handle: Handler): Route {
  return { ...get(path, handle), method: 'POST' };
}

/** `text` for paths without an ending, such as `/graph`. */
function formatOf(word: string | undefined): Format {
  return word === 'json' || word === 'yaml' ? word : 'text';
}

/** JSON is also sent for `text` where there is no text form. */
function dataFormat(format: Format): 'json' | 'yaml' {
  return format === 'text' ? 'json' : format;
}

/** With sorted keys, as the original prints values. */
function sortedResponse(format: 'json' | 'yaml', data: object): RouteResponse {
  return dataResponse(format, parseJson(canonicalJson(data)));
}

/** The words that Go's `strconv.ParseBool` takes for true. */
function isYes(word: string | null): boolean {
  return word !== null && /^(1|t|T|true|TRUE|True)$/.test(word);
}

/** One parameter as JSON; `expireAt` and `lastError` are absent where there are none. */
function parameterData({
  name,
  description,
  default: initial,
  value,
  expiresAtMs,
  lastError,
}: RuntimeParameterView): object {
  const expireAt = expiresAtMs === undefined ? undefined : rfc3339(expiresAtMs);
  return {
    name,
    description,
    default: initial,
    value,
    ...(expireAt !== undefined && { expireAt }),
    ...(lastError !== undefined && { lastError }),
  };
}

/** The table of `config list`, with the column widths of the original. */
function parameterTable(list: readonly RuntimeParameterView[]): string {
  const row = (name: string, value: string, expireAt: string, description: string): string =>
    `${name.padEnd(30)} ${value.padEnd(20)} ${expireAt.padEnd(20)} ${description.padEnd(40)}`.trimEnd();
  const rows = list.map(({ name, value, expiresAtMs, description, lastError }) =>
    row(
      name,
      value,
      expiresAtMs === undefined ? '' : rfc3339(expiresAtMs),
      lastError === undefined ? description : `Error: ${oneLine(lastError)}`,
    ),
  );
  return `${[row('NAME', 'VALUE', 'EXPIRE AT', 'DESCRIPTION'), ...rows].join('\n')}\n`;
}

/** The requester of an action, for the log and the Event. */
function clientOf(origin: RequestOrigin | undefined): string {
  const client = origin?.headers[CLIENT_HEADER.toLowerCase()];
  return ACTION_CLIENTS.find((known) => known === client) ?? 'debug socket';
}
