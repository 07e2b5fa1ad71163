import { stringOf } from '@addon-operator/json';
import type { ApiState } from './api-state.ts';
import type { Controller } from './controller-loop.ts';
import { coreEvent } from './event-versions.ts';
import { stringAt } from './json-access.ts';
import { objectKey, type ResourceObject } from './resource-object.ts';

const EVENTS = '/events';
/** How long a cluster keeps an Event by default. */
const KEPT_MS = 3_600_000;

/** Forgets Events that are an hour old. Looks only when a new one comes, so an idle sandbox stays idle. */
export const eventController: Controller = {
  name: 'event',
  reconcile: (state, storage) => {
    if (storage === EVENTS) forgetOld(state);
  },
};

function forgetOld(state: ApiState): void {
  const oldestMs = state.clock.wallMs() - KEPT_MS;
  for (const event of state.store.list(EVENTS)) {
    const { namespace, name } = event.metadata;
    if (lastSeenMs(event) < oldestMs) state.store.remove(EVENTS, objectKey(namespace, name));
  }
}

/** When an Event was last reported; a repeated one is written again each time. */
function lastSeenMs(event: ResourceObject): number {
  const { lastTimestamp, eventTime, series } = coreEvent(event);
  const seen = [lastTimestamp, eventTime, stringAt(series, 'lastObservedTime')];
  const times = [...seen, event.metadata.creationTimestamp].map((time) => Date.parse(stringOf(time)));
  return Math.max(...times.filter((timeMs) => !Number.isNaN(timeMs)));
}
