import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answered, AnswerReader } from './answer-reader.ts';
import { link } from './live.ts';

/**
 * Reads an answer of the API, and again whenever `version` is another one or the operator is back. Undefined as a path
 * reads nothing.
 */
export function useAnswer<Answer>(path: string | undefined, version: unknown = 0): Answered<Answer> {
  const [state, setState] = useState<{ path: string | undefined; answered: Answered<Answer> }>();
  const reader = useRef<AnswerReader<Answer> | undefined>(undefined);
  const isLive = link.value === 'live';
  useEffect(() => {
    if (path === undefined) return undefined;
    const mine = new AnswerReader<Answer>(path, (answered) => setState({ path, answered }));
    reader.current = mine;
    return () => mine.stop();
  }, [path]);
  useEffect(() => reader.current?.refresh(), [path, version, isLive]);
  return state?.path === path && state !== undefined ? state.answered : { data: undefined, error: undefined };
}
