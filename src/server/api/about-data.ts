/** The data of the page's "About": version, process, runtime parameters, watches. */

import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { ApiParts } from './api-route.ts';

/** Which operator this is, and how it fares. */
export function aboutData({ view, identity, parameters, allowsActions = false }: ApiParts): object {
  const { version, bootId, replica, namespace, role } = identity;
  return {
    version,
    bootId,
    at: identity.nowIso(),
    replica,
    namespace,
    role,
    allowsActions,
    process: identity.usage(),
    parameters: parameters.list().map(({ expiresAtMs, lastError, ...parameter }) => ({
      ...parameter,
      expiresAt: expiresAtMs === undefined ? null : isoTime(expiresAtMs),
      lastError: lastError ?? '',
    })),
    watches: view.watches(),
  };
}
