/** A hook of Preact that connects a component with a `ResponseReader` for its path. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { link } from './live.ts';
import { type Responded, ResponseReader } from './response-reader.ts';

/**
 * Reads a response of the API, and again whenever `version` is another one or the operator is back. Undefined as a path
 * reads nothing.
 */
export function useResponse<Result>(path: string | undefined, version: unknown = 0): Responded<Result> {
  const [state, setState] = useState<{ path: string | undefined; responded: Responded<Result> }>();
  const reader = useRef<ResponseReader<Result> | undefined>(undefined);
  const isLive = link.value === 'live';
  useEffect(() => {
    if (path === undefined) return undefined;
    const mine = new ResponseReader<Result>(path, (responded) => setState({ path, responded }));
    reader.current = mine;
    return () => mine.stop();
  }, [path]);
  useEffect(() => reader.current?.refresh(), [path, version, isLive]);
  // The state may still belong to the path of the last render.
  return state?.path === path && state !== undefined
    ? state.responded
    : { data: undefined, error: undefined };
}
