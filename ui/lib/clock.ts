/**
 * One clock for all times of the page. It follows the operator's clock, so a wrong clock of the browser does not show runs
 * in the future. Components read the signal of a time, and only their text node is updated each second.
 */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { agoText, spanText, untilText } from './time-text.ts';

/** The operator's clock is this much before ours. */
let aheadMs = 0;

const second = signal(Date.now());

/** The time of the operator's clock, updated every second while the tab is visible. */
export const nowMs: ReadonlySignal<number> = computed(() => second.value + aheadMs);

/** Corrects times for a browser whose clock is wrong. `at` is RFC 3339. */
export function noteServerTime(at: string): void {
  const differenceMs = Date.parse(at) - Date.now();
  // The response takes some time.
  aheadMs = Math.abs(differenceMs) < 2_000 ? 0 : differenceMs;
}

/** A hidden tab does not tick. */
export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) second.value = Date.now();
  }, 1_000);
}

/** Text for a time that ticks: only the text node that shows it changes. */
export function tickingText(at: string, kind: 'ago' | 'until' | 'for'): ReadonlySignal<string> {
  const ms = Date.parse(at);
  return computed(() => {
    if (kind === 'until') return untilText(ms - nowMs.value);
    const passedMs = nowMs.value - ms;
    return kind === 'ago' ? agoText(passedMs) : `for ${spanText(Math.max(0, passedMs), Math.floor)}`;
  });
}
