import { valueAtPath } from '@addon-operator/json';
import type { RunReason } from './binding-context.ts';
import type { QueueKey } from './hook-config.ts';
import type { KubernetesEvent } from './kubernetes-binding.ts';

/** Where a run waits: in a queue, or in that queue among the runs for one key. */
export interface Destination {
  readonly queue: string;
  readonly lane?: { readonly key: string; readonly parallel: number };
}

const STEP = /\.([A-Za-z_][A-Za-z0-9_]*)|\.?\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]/gy;
/** A key is part of names that are shown. */
const MAX_KEY = 253;

/**
 * The steps of a path such as `.metadata.labels["app"]`, which is jq too. It is not a jq program, because it is evaluated for
 * each event, before the event is queued.
 *
 * @throws Error if the string is not a path
 */
export function parseKeyPath(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  let end = 0;
  for (const match of path.matchAll(STEP)) {
    const [text, name, quoted, index] = match;
    end = match.index + text.length;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(name ?? (JSON.parse(`"${quoted ?? ''}"`) as string));
  }
  if (steps.length === 0 || end !== path.length)
    throw new Error(`'${path}' is neither object nor namespace nor a path such as .metadata.labels["app"]`);
  return steps;
}

/**
 * Where runs for events, schedules and Synchronizations wait; undefined for all others. A Synchronization is about the objects
 * of all keys, so it waits in the queue itself.
 */
export function queueOf(reason: RunReason | undefined): Destination | undefined {
  if (reason?.type === 'synchronization') return { queue: reason.binding.queue };
  if (reason?.type !== 'event' && reason?.type !== 'schedule') return undefined;
  const { queue, keyed } = reason.binding;
  if (keyed === undefined) return { queue };
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
