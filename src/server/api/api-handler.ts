/**
 * The read requests of the API. A route names its query parameters and reads its data from the view of the daemon;
 * `apiResponse` does the rest: match the path, check method and query, serialize. Responses are bounded (first tasks, last
 * runs, shortened errors), because an operator in trouble has thousands of tasks with long errors. The shapes are
 * specified in `schemas.ts`.
 */

import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { RouteResponse } from '@addon-operator/http-server/response';
import type { ServerRequest } from '@addon-operator/http-server/serve';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { RunView } from '../../journal/run-view.ts';
import { endOf, startOf } from '../../status/cut-text.ts';
import type { DaemonView } from '../../status/daemon-view.ts';
import { type ModuleRow, moduleRow } from '../../status/module-row.ts';
import type { NextItem } from '../../status/next-item.ts';
import type { OperatorStatus } from '../../status/operator-status.ts';
import type { TaskQueueView } from '../../status/task-queues.ts';
import { apiFailure, jsonResponse } from './api-response.ts';
import {
  type ApiParts,
  type ApiRoute,
  accessTo,
  clusterNameOf,
  numberOf,
  type RouteInput,
} from './api-route.ts';
import { meData } from './me.ts';
import { MODULE_ROUTES } from './module-routes.ts';
import { RequestRefusal } from './request-refusal.ts';
import { type Requester, requireAccess } from './requester.ts';
import { docsPage, searchResults } from './search.ts';
import { MAX_TIMELINE_HOURS, timelineData } from './timeline.ts';

export const API_PREFIX = '/api/v1';

/** Bounds of lists in responses; the number of omitted items is in a field `more…`. */
const MAX_TASKS = 200;
const TASKS_OF_NOW = 5;
const NEXT_OF_NOW = 5;
const RUNS_OF_NOW = 10;
const QUEUES_OF_NOW = 20;
const PROBLEMS_OF_NOW = 20;
/** Characters of an error in a list. */
const MAX_ERROR = 300;
/** Limits of query parameters. */
const DEFAULT_RUNS = 50;
const MAX_RUNS = 500;
const DEFAULT_HOURS = 24;
const MAX_HOURS = 24 * 366;
const HOUR_MS = 3_600_000;
/** The values that the parameter `result` accepts. */
const RESULTS: readonly RunView['result'][] = [
  'success',
  'failed',
  'repeat',
  'skipped',
  'aborted',
  'running',
];

const ROUTES: readonly ApiRoute[] = [
  { path: '/now', query: [], access: 'list', read: (parts) => nowData(parts) },
  { path: '/queues', query: [], access: 'list', read: ({ view }) => ({ queues: queuesData(view) }) },
  { path: '/modules', query: [], access: 'list', read: ({ view }) => ({ modules: modulesData(view) }) },
  ...MODULE_ROUTES,
  {
    path: '/search',
    query: ['q'],
    access: 'list',
    read: async ({ view, docs, hooks = () => [] }, { query, signal }) => {
      const words = query.get('q') ?? '';
      const sections = words.trim() === '' ? [] : await docs?.search(words);
      const others = { hooks: hooks(), docs: sections ?? [] };
      return { results: await searchResults(view, words, others, signal) };
    },
  },
  {
    path: '/docs',
    query: ['page'],
    access: 'none',
    read: async (_parts, { query }) => {
      const page = query.get('page') ?? '';
      const found = await docsPage(page);
      if (found === undefined)
        throw new RequestRefusal(404, 'REQUEST_INVALID', `there is no page "${page.slice(0, 100)}"`);
      return found;
    },
  },
  { path: '/about', query: [], access: 'list', read: aboutData },
  { path: '/me', query: ['module'], access: 'none', read: (_parts, input) => meData(input) },
  { path: '/audit', query: [], access: 'list', read: ({ audit }) => ({ entries: audit?.entries ?? [] }) },
  {
    path: '/runs',
    query: ['module', 'hook', 'queue', 'type', 'result', 'event', 'before', 'limit'],
    access: 'list',
    read: ({ view }, { query }) => {
      const result = query.get('result') ?? undefined;
      return view.journal.list({
        module: query.get('module') ?? undefined,
        hook: query.get('hook') ?? undefined,
        queue: query.get('queue') ?? undefined,
        type: query.get('type') ?? undefined,
        event: query.get('event') ?? undefined,
        result: result === undefined ? undefined : resultOf(result),
        before: query.has('before') ? numberOf(query, 'before', Number.MAX_SAFE_INTEGER) : undefined,
        limit: query.has('limit') ? numberOf(query, 'limit', MAX_RUNS) : DEFAULT_RUNS,
      });
    },
  },
  {
    path: '/runs/{name}',
    query: [],
    access: 'values',
    // A run that is not known has no module to ask about: whoever may see all values learns that it is too old.
    moduleOf: ({ view }, name) => moduleOfRun(view.journal.details(runIdOf(name) ?? 0)),
    read: ({ view }, { name }) => {
      const id = runIdOf(name);
      const details = id === undefined ? undefined : view.journal.details(id);
      if (details === undefined)
        throw new RequestRefusal(404, 'REQUEST_INVALID', `there is no run ${name}: it may be too old`);
      return details;
    },
  },
  {
    path: '/events/{name}',
    query: [],
    access: 'list',
    read: ({ view }, { name }) => {
      // A user may have copied the id of a run or of a trace instead of the id of the event.
      const other = view.journal.eventOf(name);
      const runs = view.journal.event(name) ?? (other === undefined ? undefined : view.journal.event(other));
      if (runs === undefined)
        throw new RequestRefusal(
          404,
          'REQUEST_INVALID',
          `no run of event ${name} is known: it may be too old`,
        );
      return runs;
    },
  },
  {
    path: '/timeline',
    query: ['hours'],
    access: 'list',
    read: ({ view, identity }, { query }) =>
      timelineData(
        view,
        Date.parse(identity.nowIso()),
        query.has('hours') ? numberOf(query, 'hours', MAX_TIMELINE_HOURS) : 1,
      ),
  },
  {
    path: '/next',
    query: ['hours'],
    access: 'list',
    read: ({ view }, { query }) => ({
      items: nextData(
        view,
        HOUR_MS * (query.has('hours') ? numberOf(query, 'hours', MAX_HOURS) : DEFAULT_HOURS),
      ),
    }),
  },
];

/** The paths that are served here, below the prefix. */
export const READ_PATHS: readonly string[] = ROUTES.map(({ path }) => path);

/** Patterns are compiled once; `{name}` matches one segment. */
const COMPILED = ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${API_PREFIX}${route.path.replace('{name}', '(?<name>[^/]+)')}$`),
}));

/** Handles requests for data as JSON; an error is `{"error": {"code", "message"}}`. */
export async function apiResponse(
  parts: ApiParts,
  { method, path, query }: Pick<ServerRequest, 'method' | 'path' | 'query'>,
  requester: Requester,
  signal: AbortSignal,
): Promise<RouteResponse> {
  try {
    const found = COMPILED.find(({ pattern }) => pattern.test(path));
    if (found === undefined) throw new RequestRefusal(404, 'REQUEST_INVALID', `there is no ${path}`);
    if (method !== 'GET') throw new RequestRefusal(405, 'REQUEST_INVALID', `${path} can only be read`);
    checkQuery(query, found.route.query);
    const name = found.pattern.exec(path)?.groups?.['name'] ?? '';
    const access = accessTo(found.route, parts, name);
    if (access !== undefined) await requireAccess(requester, access, signal);
    return jsonResponse(200, await found.route.read(parts, { name, query, requester, signal }));
  } catch (error) {
    return apiFailure(error);
  }
}

/** Refuses what is misspelt or given twice: it would look as if it had an effect. */
export function checkQuery(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name))
      throw new RequestRefusal(
        400,
        'REQUEST_INVALID',
        `unknown query parameter "${name}"${didYouMean(name, known)}`,
      );
    if (query.getAll(name).length > 1)
      throw new RequestRefusal(400, 'REQUEST_INVALID', `query parameter "${name}" is given more than once`);
  }
}

/** In place of the module of a run: it belongs to none. */
const GLOBAL = 'global';

function moduleOfRun(run: Pick<RunView, 'module'> | undefined): string | undefined {
  return run && (run.module || GLOBAL);
}

/** Up to 15 digits are exact as a number; undefined for anything else. */
function runIdOf(name: string): number | undefined {
  return /^\d{1,15}$/.test(name) ? Number(name) : undefined;
}

/** @throws Refusal for a result that no run has */
function resultOf(word: string): RunView['result'] {
  const result = RESULTS.find((known) => known === word);
  if (result === undefined)
    throw new RequestRefusal(400, 'REQUEST_INVALID', `"result" must be one of ${RESULTS.join(', ')}`);
  return result;
}

/** All queues with their first tasks. */
export function queuesData(view: DaemonView, maxTasks = MAX_TASKS): readonly QueueRow[] {
  return view.taskQueues(maxTasks).map((queue) => ({
    ...queue,
    tasks: queue.tasks.map((task) => ({ ...task, lastError: endOf(task.lastError, MAX_ERROR) })),
    more: queue.length - queue.tasks.length,
  }));
}

/** A queue as lists have it: its first tasks, with shortened errors. */
type QueueRow = TaskQueueView & { readonly more: number };

/** Things that happen within so many milliseconds, with shortened sentences. */
export function nextData(view: DaemonView, withinMs: number, limit?: number): readonly NextItem[] {
  return view.next(withinMs, limit).map((item) => ({ ...item, text: startOf(item.text, MAX_ERROR) }));
}

/** All modules with their last runs. */
export function modulesData(view: DaemonView): readonly ModuleRow[] {
  const runs = view.journal.byModule();
  return view.modules().map((module) => moduleRow(module, runs.get(module.module)));
}

/** The state in one sentence, with what else is wrong. */
export function headlineData({ level, text, problems, details }: OperatorStatus): object {
  return {
    level,
    text,
    problems: problems.slice(0, PROBLEMS_OF_NOW),
    details: details.slice(0, PROBLEMS_OF_NOW),
    more: Math.max(0, problems.length - PROBLEMS_OF_NOW),
  };
}

/** The first screen of the page, in one request. */
function nowData({ view, identity }: ApiParts): object {
  const status = view.status();
  const { modules, tasks } = status;
  const busy = queuesData(view, TASKS_OF_NOW).filter(({ length }) => length > 0);
  return {
    version: identity.version,
    bootId: identity.bootId,
    at: identity.nowIso(),
    headline: headlineData(status),
    converge: view.convergeStatus(),
    counts: { modules, tasks },
    queues: busy.slice(0, QUEUES_OF_NOW),
    moreQueues: Math.max(0, busy.length - QUEUES_OF_NOW),
    runningHooks: view.runningHooks(),
    next: nextData(view, DEFAULT_HOURS * HOUR_MS, NEXT_OF_NOW),
    runs: view.journal
      .list({ limit: RUNS_OF_NOW })
      .runs.map((run) => ({ ...run, error: endOf(run.error, MAX_ERROR) })),
  };
}

/** Which operator this is, and how it fares. */
function aboutData(parts: ApiParts, { requester }: RouteInput): object {
  const { view, identity, parameters } = parts;
  const { version, bootId, replica, namespace, role } = identity;
  return {
    version,
    bootId,
    at: identity.nowIso(),
    replica,
    namespace,
    cluster: clusterNameOf(parts),
    role,
    allowsActions: requester.allowsActions,
    process: identity.usage(),
    parameters: parameters.list().map(({ expiresAtMs, lastError, ...parameter }) => ({
      ...parameter,
      expiresAt: expiresAtMs === undefined ? null : isoTime(expiresAtMs),
      lastError: lastError ?? '',
    })),
    watches: view.watches(),
  };
}
