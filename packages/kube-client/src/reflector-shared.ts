// Shares reflectors between bindings. Bindings that select the same objects get the same reflector and so one
// watch; it starts with the first subscriber and stops with the last. Called by the bindings' monitors
// through `SharedReflectors.subscribe`; an outage of the API server is logged once for all of them.

import { roundedMs } from '@addon-operator/base/clock';
import { ApiHealth } from './api-health.ts';
import { KubeApiError, type KubeClient } from './kube-client.ts';
import { Reflector, type ReflectorDeps } from './reflector.ts';
import type { Selection, SharedReflectors } from './reflector-sink.ts';

/** A reflector and the signal that ends its loop. */
interface Running {
  readonly reflector: Reflector;
  readonly stop: AbortController;
}

interface SharedReflectorsDeps extends Omit<ReflectorDeps, 'health'> {
  /** Observes the requests of `kube` and of other clients; default: only the requests of the reflectors. */
  readonly health?: ApiHealth;
}

/** Reflectors by selection: one runs as long as it has a subscriber. */
export function createSharedReflectors(options: SharedReflectorsDeps): SharedReflectors {
  const running = new Map<string, Running>();
  const deps = withHealth(options);
  logOutages(deps, () => running.size);

  return {
    async subscribe(selection, sink, signal) {
      signal.throwIfAborted();
      const key = selectionKey(selection);
      const existing = running.get(key);
      const entry = existing ?? { reflector: new Reflector(selection, deps), stop: new AbortController() };
      running.set(key, entry);
      const joined = entry.reflector.join(sink, signal, () => {
        if (!entry.reflector.isUnused) return;
        entry.stop.abort();
        if (running.get(key) === entry) running.delete(key);
      });
      // Only now: the first list is made for those who wait for it.
      if (existing === undefined) {
        entry.reflector.run(entry.stop.signal).catch((error: unknown) => {
          deps.log.error({ kind: selection.resource.kind, error }, 'reflector died');
        });
      }
      await joined;
    },
  };
}

/** Without a health object of the caller, outages are detected from the requests of the reflectors alone. */
function withHealth({ health, ...deps }: SharedReflectorsDeps): ReflectorDeps {
  if (health !== undefined) return { ...deps, health };
  const own = new ApiHealth(deps.clock);
  return { ...deps, kube: observedClient(deps.kube, own), health: own };
}

/** One record for all watches. What each of them meets during an outage is logged at level debug. */
function logOutages({ health, log }: ReflectorDeps, countWatches: () => number): void {
  health.subscribe({
    outageBegan: ({ error }) =>
      log.warn(
        { watches: countWatches(), error },
        'the API server does not respond, its watches go on when it does',
      ),
    outageEnded: (durationMs) =>
      log.info(
        { watches: countWatches(), durationMs: roundedMs(durationMs) },
        'the API server responds again',
      ),
  });
}

/** Equal for selections that lead to the same requests. */
function selectionKey(selection: Selection): string {
  const { resource, namespace, labelSelector, fieldSelector, isMetadataOnly } = selection;
  const { group, version, plural } = resource;
  return JSON.stringify([
    group,
    version,
    plural,
    namespace ?? '',
    labelSelector ?? '',
    fieldSelector ?? '',
    isMetadataOnly ?? false,
  ]);
}

/** The client, with the outcome of each of its requests observed. */
function observedClient(kube: KubeClient, health: Pick<ApiHealth, 'observe'>): KubeClient {
  const observe = async <T>(request: Promise<T>): Promise<T> => {
    try {
      const response = await request;
      health.observe({ status: 200 });
      return response;
    } catch (error) {
      health.observe({ status: error instanceof KubeApiError ? error.status : undefined, error });
      throw error;
    }
  };
  return {
    request: (request, signal) => observe(kube.request(request, signal)),
    stream: (request, signal) => observe(kube.stream(request, signal)),
  };
}
