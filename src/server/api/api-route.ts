/**
 * The types that all routes of the API share: where data comes from, how a route is declared, and how it refuses a
 * request.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { ErrorCode } from '@addon-operator/base/errors';
import type { LogTail } from '@addon-operator/logging/log-tail';
import type { RuntimeParameterView } from '../../settings/runtime-parameters.ts';
import type { DaemonView } from '../../status/daemon-view.ts';
import type { AuditList } from './audit-list.ts';
import type { DocsIndex } from './search.ts';

/** Which operator responds. */
export interface OperatorIdentity {
  readonly version: string;
  /** Different after each start. */
  readonly bootId: string;
  readonly nowIso: () => string;
  readonly clock: SteadyClock;
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
  /** Of the documentation; absent: it is not searched. */
  readonly docs?: DocsIndex;
  /** The last actions; default none. */
  readonly audit?: Pick<AuditList, 'entries'>;
  /** Whether the client may also change something; default false. */
  readonly allowsActions?: boolean;
}

/** The name of the cluster by the settings, or else by the global values; empty without both. */
export function clusterNameOf({ identity, view }: Pick<ApiParts, 'identity' | 'view'>): string {
  if (identity.cluster !== '') return identity.cluster;
  const { clusterName } = view.global.values();
  return typeof clusterName === 'string' ? clusterName : '';
}

/** A request that is refused. */
export class RequestRefusal extends Error {
  readonly status: number;
  readonly code: ErrorCode;

  constructor(status: number, code: ErrorCode, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface ApiRoute {
  /** Below the prefix; `{name}` is one part of the path. */
  readonly path: string;
  /** The query parameters it knows. */
  readonly query: readonly string[];
  readonly read: (
    parts: ApiParts,
    input: { readonly name: string; readonly query: URLSearchParams; readonly signal: AbortSignal },
  ) => object | Promise<object>;
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
