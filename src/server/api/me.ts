/** The route `/me`: who the client is, and which actions it may request. A page disables the buttons of all others. */

import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { ACTION_NAMES } from '../../status/action-names.ts';
import { ACTIONS } from './actions.ts';
import type { RouteInput } from './api-route.ts';

/** Access reviews under way for one request. */
const AT_ONCE = 4;
const VERBS = [...new Set(ACTION_NAMES.map((name) => ACTIONS[name].verb))];

/** Who the client is, and for each action why it may not request it; for one module, or for all of them. */
export async function meData({
  query,
  requester,
  signal,
}: Pick<RouteInput, 'query' | 'requester' | 'signal'>): Promise<object> {
  const { identity, allowsActions } = requester;
  const module = query.get('module') ?? undefined;
  // Several actions have one verb.
  const refusals = await mapParallel(
    allowsActions ? VERBS : [],
    AT_ONCE,
    async (verb) => [verb, (await requester.refusalOf(verb, module, signal)) ?? null] as const,
  );
  const byVerb = new Map(refusals);
  const actions = ACTION_NAMES.flatMap((action) => {
    const { verb } = ACTIONS[action];
    const refusal = byVerb.get(verb);
    return refusal === undefined ? [] : [{ action, verb, refusal }];
  });
  return { ...identity, allowsActions, module: module ?? null, actions };
}
