/**
 * Replays a recording: runs today's hook with the recorded input and compares what the outputs do. If they differ, the hook
 * is run once more; a hook whose two runs differ depends on more than its input and cannot be judged.
 */

import type { Json } from '@addon-operator/json';
import { dumpYaml } from '@addon-operator/yaml';
import type { Recording } from './recording.ts';
import { comparable, type RunEffects, sameEffects } from './run-effects.ts';

/** The result of one run of today's hook. */
export interface ReplayAttempt {
  /** Undefined for a run that failed. */
  readonly effects: RunEffects | undefined;
  /** Why it failed. */
  readonly error?: string;
  /** Requests that the hook itself sent to the Kubernetes API, such as `GET /api/v1/pods`. */
  readonly requests: readonly string[];
}

/** A hook as it is today. */
export interface ReplayedHook {
  run(recording: Recording): Promise<ReplayAttempt>;
  /** The effects of the recorded outputs; undefined if they could not be used, or there are none. */
  effectsOf(recording: Recording): RunEffects | undefined;
}

/** The differing lines of two texts, with `- ` or `+ ` in front. */
export type Differ = (before: string, after: string) => readonly string[];

export type ReplayResult = {
  readonly hook: string;
  readonly module: string;
  readonly binding: string;
} & ReplayVerdict;

type ReplayVerdict =
  | { readonly result: 'same' }
  /** From the recorded outputs to those of today. */
  | { readonly result: 'differs'; readonly diff: readonly string[] }
  | { readonly result: 'failed'; readonly reason: string }
  /** The outputs depend on more than the recorded input, so they cannot be compared. */
  | { readonly result: 'impure'; readonly reason: string };

/** Runs today's hook with the input of a recorded run, and compares the outputs. */
export async function replayOne(
  recording: Recording,
  hook: ReplayedHook,
  differ: Differ,
): Promise<ReplayResult> {
  const { hook: name, module, binding } = recording;
  return { hook: name, module, binding, ...(await verdictOn(recording, hook, differ)) };
}

async function verdictOn(recording: Recording, hook: ReplayedHook, differ: Differ): Promise<ReplayVerdict> {
  const now = await hook.run(recording);
  const [request] = now.requests;
  if (request !== undefined)
    return {
      result: 'impure',
      reason: `it calls the Kubernetes API itself, whose state is not recorded: ${request}${now.requests.length > 1 ? ` and ${now.requests.length - 1} more requests` : ''}`,
    };
  const then = hook.effectsOf(recording);
  if (isSame(then, now.effects)) return { result: 'same' };
  // Only after a difference: a second run costs time, and equal outputs need no proof.
  const again = await hook.run(recording);
  if (!isSame(now.effects, again.effects))
    return {
      result: 'impure',
      reason:
        'two runs with the same input differ: the outputs depend on the time, on chance or on something outside',
    };
  if (now.effects === undefined) return { result: 'failed', reason: now.error ?? '' };
  return { result: 'differs', diff: differ(text(then, recording.error), text(now.effects)) };
}

/** Runs that fail are the same: the message of a failure may name what is different each time. */
function isSame(a: RunEffects | undefined, b: RunEffects | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameEffects(a, b);
}

function text(effects: RunEffects | undefined, error?: string): string {
  return dumpYaml((effects === undefined ? { failed: error ?? '' } : comparable(effects)) as Json, 2);
}

/** How many replays had each result. */
export function countReplays(
  results: readonly ReplayResult[],
): Readonly<Record<ReplayResult['result'], number>> {
  const count = (result: ReplayResult['result']): number =>
    results.filter((each) => each.result === result).length;
  return { same: count('same'), differs: count('differs'), failed: count('failed'), impure: count('impure') };
}
