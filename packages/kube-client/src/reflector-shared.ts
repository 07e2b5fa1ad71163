import { Reflector, type ReflectorDeps } from './reflector.ts';
import type { Selection, SharedReflectors } from './reflector-sink.ts';

interface Running {
  readonly reflector: Reflector;
  readonly stop: AbortController;
}

/** Reflectors by selection: one runs as long as it has a subscriber. */
export function createSharedReflectors(deps: ReflectorDeps): SharedReflectors {
  const running = new Map<string, Running>();

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
