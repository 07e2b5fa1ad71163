import type { ComponentChildren, VNode } from 'preact';
import type { Answered } from '../lib/answer-reader.ts';
import { Empty } from './text.tsx';

/** Shows an answer, or what is known instead of it. */
export function Shown<Answer>({
  answered: { data, error },
  children,
}: {
  answered: Answered<Answer>;
  children: (data: Answer) => ComponentChildren;
}): VNode {
  if (data !== undefined) return <>{children(data)}</>;
  if (error === undefined)
    return (
      <p class="empty" aria-busy="true">
        Reading …
      </p>
    );
  if (
    error.status === 404 &&
    error.code !== 'MODULE_UNKNOWN' &&
    error.message.startsWith('there is no /api/')
  )
    return <Empty>This operator does not answer that.</Empty>;
  return <Empty>{error.status === 0 ? 'The operator does not answer.' : error.message}</Empty>;
}
