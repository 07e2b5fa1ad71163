import { effect, signal } from '@preact/signals';
import { type Answered, AnswerReader } from './answer-reader.ts';
import type { NowAnswer } from './answers.ts';
import { noteServerTime } from './clock.ts';
import { changes, link } from './live.ts';
import { token } from './site.ts';

/** The state of the operator in one sentence; it is not in the stream, and read again after each change. */
export const now = signal<Answered<NowAnswer>>({ data: undefined, error: undefined });

/** A hook that runs for long changes nothing in the stream. */
const REFRESH_MS = 10_000;

export function followNow(): void {
  const reader = new AnswerReader<NowAnswer>('now', (answered) => {
    if (answered.data !== undefined) noteServerTime(answered.data.at);
    now.value = answered;
  });
  effect(() => {
    const isFollowed = changes.value >= 0 && token.value !== '' && link.value !== 'refused';
    if (isFollowed && link.value !== 'away') reader.refresh();
  });
  setInterval(() => {
    if (!document.hidden && link.value === 'live') reader.refresh();
  }, REFRESH_MS);
}
