/** The small parts of every page: links, times, titles, cards, output. */

import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { tickingText } from '../lib/clock.ts';
import { hrefOf } from '../lib/site.ts';

/** A link to a page below the base. */
export function Link({
  to,
  children,
  ...more
}: {
  to: string;
  children: ComponentChildren;
  class?: string;
  title?: string;
  tabindex?: number;
  'aria-current'?: 'page' | undefined;
  'aria-label'?: string;
}): VNode {
  return (
    <a href={hrefOf(to)} {...more}>
      {children}
    </a>
  );
}

/** When something was, or will be, counting. */
export function Time({ at, kind = 'ago' }: { at: string; kind?: 'ago' | 'until' | 'for' }): VNode {
  const text = useMemo(() => tickingText(at, kind), [at, kind]);
  return (
    <time
      dateTime={at}
      title={at}
      // Only when it is wanted: what browsers need for local times takes longer to load than to draw a page.
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = `${new Date(at).toLocaleString()} (${at})`;
      }}
    >
      {text}
    </time>
  );
}

/** The time of day. */
export function Clock({ at }: { at: string }): VNode {
  return (
    <time dateTime={at} title={at}>
      {new Date(at).toLocaleTimeString([], { hourCycle: 'h23' })}
    </time>
  );
}

/** A page begins with it; it gets the focus after a change of the page. */
export function Title({ children, note }: { children: ComponentChildren; note?: ComponentChildren }): VNode {
  return (
    <header class="title">
      <h1 tabIndex={-1}>{children}</h1>
      {note !== undefined && <p class="dim">{note}</p>}
    </header>
  );
}

/** A note in place of data that does not exist, or is not there yet. */
export function Empty({ children }: { children: ComponentChildren }): VNode {
  return <p class="empty">{children}</p>;
}

/** A box with a heading. */
export function Card({
  title,
  more,
  children,
  class: name = '',
}: {
  title: string;
  more?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}): VNode {
  return (
    <section class={`card ${name}`}>
      <header>
        <h2>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  );
}

/** Text of a program, as it is. A box that scrolls has to be reached by keyboard. */
export function Output({ children, label }: { children: string; label: string }): VNode {
  return (
    <section class="output" tabIndex={0} aria-label={label}>
      <pre>{children}</pre>
    </section>
  );
}
