/** Shows the three states of a response: data, not yet there, error. Old data stays visible during an error. */

import type { ComponentChildren, VNode } from 'preact';
import type { Responded } from '../lib/response-reader.ts';
import { Empty } from './text.tsx';

/** Shows a response, or what is known instead of it. */
export function Shown<Result>({
  responded: { data, error },
  children,
}: {
  responded: Responded<Result>;
  children: (data: Result) => ComponentChildren;
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
    return <Empty>This operator does not serve this page. It may be an older version.</Empty>;
  return <Empty>{error.status === 0 ? 'The operator does not respond.' : error.message}</Empty>;
}
