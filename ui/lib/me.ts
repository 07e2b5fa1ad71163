/** Who uses the page, and which actions the operator would refuse. Where one token is shared, there is nothing to ask. */

import { pathTo } from './places.ts';
import type { MeResponse } from './responses.ts';
import { allowsActions, signInMode } from './site.ts';
import { useResponse } from './use-response.ts';

/** The user that signed in; undefined where there is none, or while it is read. */
export function useMe(module?: string): MeResponse | undefined {
  const query = module === undefined ? '' : `?${new URLSearchParams({ module })}`;
  return useResponse<MeResponse>(signInMode === 'token' ? undefined : `${pathTo(['me'])}${query}`).data;
}

/** For each action on a module that the user may not request, why; by its name. */
export function useRefusals(module: string): ReadonlyMap<string, string> {
  const actions = useMe(module)?.actions ?? [];
  return new Map(
    allowsActions
      ? actions.flatMap(({ action, refusal }) => (refusal === null ? [] : [[action, refusal] as const]))
      : [],
  );
}
