/** Derives the queue of a run, and its key in a keyed queue, from the reason of the run. */

import { valueAtPath } from '@addon-operator/json';
import type { QueueKey } from '../hook-config/hook-config.ts';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';
import type { RunReason } from './binding-context.ts';

/** Where a run waits: in a queue, or in that queue among the runs for one key. */
export interface Destination {
  readonly queue: string;
  readonly lane?: { readonly key: string; readonly parallel: number };
}

/** A key is part of names that are shown. */
const MAX_KEY = 253;

/**
 * Where runs for bindings with a queue wait; undefined for all others. A Synchronization is about the objects
 * of all keys, so it waits in the queue itself.
 */
export function queueOf(reason: RunReason | undefined): Destination | undefined {
  if (reason === undefined || typeof reason.binding === 'string' || !('queue' in reason.binding))
    return undefined;
  const { queue, keyed } = reason.binding;
  if (keyed === undefined || reason.type === 'synchronization') return { queue };
  const key = reason.type === 'event' ? keyOf(keyed.key, reason.event) : reason.binding.name;
  return { queue, lane: { key, parallel: keyed.parallel } };
}

function keyOf(key: QueueKey, { key: name, item }: KubernetesEvent): string {
  switch (key.type) {
    case 'object':
      return name;
    case 'namespace':
      return name.slice(0, Math.max(0, name.indexOf('/')));
    case 'path':
      return keyText(valueAtPath(item.object, ...key.steps));
  }
}

/** All objects without the value have the same key. */
function keyText(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, MAX_KEY);
}
