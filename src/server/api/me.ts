/** The route `/me`: who the client is, and which actions it may request. A page disables the buttons of all others. */

import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import type { RouteInput } from './api-route.ts';
import { MODULE_ACTIONS } from './module-action.ts';

/** Access reviews under way for one request. */
const AT_ONCE = 4;

/** Who the client is, and for each action why it may not request it; for one module, or for all of them. */
export async function meData({
  query,
  requester,
  signal,
}: Pick<RouteInput, 'query' | 'requester' | 'signal'>): Promise<object> {
  const { identity, allowsActions } = requester;
  const module = query.get('module') ?? undefined;
  const verbs = allowsActions ? MODULE_ACTIONS : [];
  const actions = await mapParallel(verbs, AT_ONCE, async (verb) => ({
    verb,
    refusal: (await requester.refusalOf(verb, module, signal)) ?? null,
  }));
  return {
    ...identity,
    allowsActions,
    module: module ?? null,
    actions,
  };
}
