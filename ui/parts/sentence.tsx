/** Renders sentences of the operator: code, times, and seconds that count down. */

import { computed } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { nowMs } from '../lib/clock.ts';
import { taskPhrase } from '../lib/task-names.ts';
import { countdownIn, momentText, sentenceParts, spanText } from '../lib/time-text.ts';

/** A sentence of the operator, with what is in backticks as code, and times as clocks show them. */
export function Sentence({ text }: { text: string }): VNode {
  return (
    <span>
      {sentenceParts(text).map((part, index) => {
        // oxlint-disable react/no-array-index-key -- the same may be named twice
        if (part.kind === 'code') return <code key={index}>{part.text}</code>;
        if (part.kind === 'time') return <Moment key={index} at={part.text} />;
        if (part.kind === 'task')
          return (
            <span key={index} title={part.text}>
              {taskPhrase(part.text)}
            </span>
          );
        // oxlint-enable react/no-array-index-key
        return part.text;
      })}
    </span>
  );
}

/** Rendered once: it does not tick. */
function Moment({ at }: { at: string }): VNode {
  return (
    <time dateTime={at} title={at}>
      {momentText(at, nowMs.peek())}
    </time>
  );
}

/** The same; the seconds until the next attempt count down from the time of the response. */
export function Countdown({ text, at }: { text: string; at: string }): VNode {
  const found = useMemo(() => countdownIn(text), [text]);
  if (found === undefined) return <Sentence text={capital(text)} />;
  return (
    <span>
      {capital(found.before)}
      <TimeLeft endMs={Date.parse(at) + found.seconds * 1_000} />
      <Sentence text={found.after} />
    </span>
  );
}

/** Only this text node is updated each second. */
function TimeLeft({ endMs }: { endMs: number }): VNode {
  const left = useMemo(() => computed(() => spanText(Math.max(0, endMs - nowMs.value), Math.ceil)), [endMs]);
  return <span class="count">{left}</span>;
}

/** Sentences of the operator begin in lower case, because they follow a colon in logs. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
