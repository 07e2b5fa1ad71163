/**
 * Who uses the page, and which actions the operator would refuse. Each answer is shared by all buttons of a module. Where one
 * token is shared by all clients, there is nothing to ask.
 */

import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { read } from './api.ts';
import { link } from './live.ts';
import { pathTo } from './places.ts';
import type { MeResponse } from './responses.ts';
import { signInMode } from './site.ts';

interface Known {
  readonly response: Signal<MeResponse | undefined>;
  readAtMs: number;
}

/** As long as the operator itself remembers a decision. */
const MAX_AGE_MS = 10_000;
const known = new Map<string, Known>();

/** The user that signed in, and what it may do with a module, or with all; undefined while that is read. */
export function useMe(module?: string): MeResponse | undefined {
  const path = `${pathTo(['me'])}${module === undefined ? '' : `?${new URLSearchParams({ module })}`}`;
  const isLive = link.value === 'live';
  const entry = known.get(path) ?? { response: signal(undefined), readAtMs: Number.NEGATIVE_INFINITY };
  known.set(path, entry);
  useEffect(() => {
    if (signInMode !== 'token' && isLive) void refresh(path, entry);
  }, [path, isLive]);
  return entry.response.value;
}

/** For each action on a module, or on all, why the user may not request it; by the name of the action. */
export function useRefusals(module?: string): ReadonlyMap<string, string> {
  const actions = useMe(module)?.actions ?? [];
  return new Map(actions.flatMap(({ action, refusal }) => (refusal === null ? [] : [[action, refusal]])));
}

async function refresh(path: string, entry: Known): Promise<void> {
  if (performance.now() - entry.readAtMs < MAX_AGE_MS) return;
  entry.readAtMs = performance.now();
  try {
    entry.response.value = await read<MeResponse>(path, new AbortController().signal);
  } catch {
    // The operator itself refuses what is not allowed, with the reason.
    entry.readAtMs = Number.NEGATIVE_INFINITY;
  }
}
