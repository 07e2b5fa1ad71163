/**
 * The types that all routes of the API share: where data comes from, how a route is declared, and how it refuses a
 * request.
 */

import type { Clock } from '@addon-operator/base/clock';
import type { LogTail } from '@addon-operator/logging/log-tail';
import type { RuntimeParameterView } from '../../settings/runtime-parameters.ts';
import type { DaemonView } from '../../status/daemon-view.ts';
import type { AuditList } from './audit-list.ts';
import { RequestRefusal } from './request-refusal.ts';
import type { ModuleAccess, Requester } from './requester.ts';
import type { DocsIndex } from './search.ts';

/** Which operator responds. */
export interface OperatorIdentity {
  readonly version: string;
  /** Different after each start. */
  readonly bootId: string;
  readonly nowIso: () => string;
  readonly clock: Clock;
  /** Name of the pod or the machine. */
  readonly replica: string;
  readonly namespace: string;
  /** Name of the cluster by the settings; empty if they have none. */
  readonly cluster: string;
  /** `alone` without high availability. */
  readonly role: 'alone' | 'leader';
  readonly usage: () => ProcessUsage;
}

/** Resource usage of the operator's process since its start. */
export interface ProcessUsage {
  readonly startedAt: string;
  readonly uptimeMs: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  /** How late the event loop was, in milliseconds. */
  readonly eventLoopDelay: { readonly meanMs: number; readonly p99Ms: number };
}

/** The sources of responses. */
export interface ApiParts {
  readonly view: DaemonView;
  readonly identity: OperatorIdentity;
  readonly parameters: { list(): readonly RuntimeParameterView[] };
  /** The log that can be followed. */
  readonly log?: LogTail | undefined;
  /** Names of the hooks in operation, with `<module>/` in front of those of modules; default none. */
  readonly hooks?: () => readonly string[];
  /** Of the documentation; absent: it is not searched. */
  readonly docs?: DocsIndex;
  /** The last actions; default none. */
  readonly audit?: Pick<AuditList, 'entries'>;
}

/** The name of the cluster by the settings, or else by the global values; empty without both. */
export function clusterNameOf({
  identity,
  view,
}: {
  readonly identity: Pick<OperatorIdentity, 'cluster'>;
  readonly view: Pick<DaemonView, 'global'>;
}): string {
  if (identity.cluster !== '') return identity.cluster;
  const { clusterName } = view.global.values();
  return typeof clusterName === 'string' ? clusterName : '';
}

/**
 * What a client needs to read a route. `list`: the state of all modules. `get`: that of the module in the path. `values`: its
 * values, or text that may show them. `none`: nothing besides a sign-in.
 */
export type ReadAccess = 'list' | 'get' | 'values' | 'none';

export interface ApiRoute {
  /** Below the prefix; `{name}` is one part of the path. */
  readonly path: string;
  /** The query parameters it knows. */
  readonly query: readonly string[];
  readonly access: ReadAccess;
  /** The module of a path that names something else; default: the name in the path. */
  readonly moduleOf?: (parts: ApiParts, name: string) => string | undefined;
  readonly read: (parts: ApiParts, input: RouteInput) => object | Promise<object>;
}

/** What a route reads from its request. */
export interface RouteInput {
  readonly name: string;
  readonly query: URLSearchParams;
  readonly requester: Requester;
  readonly signal: AbortSignal;
}

/** The access that reading a route needs; undefined: none. */
export function accessTo(
  { access, moduleOf = (_parts, name) => name }: Pick<ApiRoute, 'access' | 'moduleOf'>,
  parts: ApiParts,
  name: string,
): ModuleAccess | undefined {
  switch (access) {
    case 'none':
      return undefined;
    case 'list':
      return { verb: 'list', module: undefined };
    case 'get':
      return { verb: 'get', module: moduleOf(parts, name) };
    case 'values':
      return { verb: 'get', module: moduleOf(parts, name), subresource: 'values' };
  }
}

// Strict: `Number` alone would accept an empty string, signs and exponents.
/** A query parameter that is a whole number from 1. @throws Refusal */
export function numberOf(query: URLSearchParams, name: string, most: number): number {
  const text = query.get(name) ?? '';
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > most)
    throw new RequestRefusal(400, 'REQUEST_INVALID', `"${name}" must be a whole number from 1 to ${most}`);
  return number;
}
