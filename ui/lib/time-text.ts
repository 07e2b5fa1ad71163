/**
 * Times, durations and sentences of the operator as text for people. It is pure. Sentences come from the operator as plain
 * strings; this file finds times, code and countdowns in them.
 */

import { TASK_PATTERN } from './task-names.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long something took, such as `12 ms`, `3.4 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  return spanText(ms);
}

/** How long ago, such as `now`, `12 s ago`, `3 min ago`. */
export function agoText(ms: number): string {
  return ms < SECOND ? 'now' : `${roughText(ms)} ago`;
}

/** When it will be, such as `in 23 s`; `now` once the time has come. */
export function untilText(ms: number): string {
  return ms <= 0 ? 'now' : `in ${spanText(ms, Math.ceil)}`;
}

/** Whole seconds below an hour, with minutes; then hours with minutes; then days with hours. */
export function spanText(ms: number, round: (number: number) => number = Math.floor): string {
  const seconds = Math.max(0, round(ms / SECOND));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < HOUR / SECOND) return pair(seconds, 60, 'min', 1, 's');
  if (seconds < DAY / SECOND) return pair(seconds, HOUR / SECOND, 'h', 60, 'min');
  return pair(seconds, DAY / SECOND, 'd', HOUR / SECOND, 'h');
}

/** Two units, without the second one if it is zero. */
function pair(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** One unit: a time in the past needs no precision. */
function roughText(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** Bytes in the unit that has one to three digits. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let [number, unit] = [bytes, 0];
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return `${number < 10 && unit > 0 ? number.toFixed(1) : Math.round(number)} ${units[unit]}`;
}

/** Part of a sentence of the operator: a command or name in backticks, a time, the type of a task, or words. */
export interface SentencePart {
  readonly kind: 'words' | 'code' | 'time' | 'task';
  readonly text: string;
}

/** The parts of a sentence; times are those of the operator, RFC 3339 in UTC. */
export function sentenceParts(text: string): readonly SentencePart[] {
  return text.split(/`([^`]+)`/).flatMap((part, index): readonly SentencePart[] => {
    if (index % 2 === 1) return [{ kind: 'code', text: part }];
    return part
      .split(/\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)\b/)
      .flatMap((piece, at): readonly SentencePart[] =>
        at % 2 === 1 ? [{ kind: 'time', text: piece }] : wordsIn(piece),
      )
      .filter((piece) => piece.text !== '');
  });
}

function wordsIn(text: string): readonly SentencePart[] {
  return text
    .split(TASK_PATTERN)
    .map((piece, at) => ({ kind: at % 2 === 1 ? 'task' : 'words', text: piece }));
}

/** A time as clocks show it, with the date on another day than today. */
export function momentText(at: string, nowMs: number): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date(nowMs).toDateString();
  const clock = time.toLocaleTimeString([], { hourCycle: 'h23' });
  return isToday ? clock : `${time.toLocaleDateString()} ${clock}`;
}

/** A sentence of the operator whose seconds count down: `queue main waits 23 s to try …`. */
export interface CountdownText {
  readonly before: string;
  readonly seconds: number;
  readonly after: string;
}

/** Undefined for a sentence without a wait. */
export function countdownIn(text: string): CountdownText | undefined {
  const found = /^(.{0,300}?\bwaits )(\d{1,9}) s( to try .*)$/s.exec(text);
  if (found === null) return undefined;
  const [, before = '', seconds = '', after = ''] = found;
  return { before, seconds: Number(seconds), after };
}

/**
 * A sentence of the operator and the reason that follows it: `queue main waits … (failed attempts: 3)` and `exit code 1`. That hooks
 * of a binding were run is left out where the hook that failed follows.
 */
export function splitReason(text: string): readonly [string, string] {
  const [sentence, reason] = split(withoutBinding(text));
  return [sentence, withoutBinding(reason)];
}

/** Drops the prefix that the hook's own error repeats. */
function withoutBinding(text: string): string {
  return text.replace(/^run hooks by binding \w+: (?=\S)/, '');
}

/** Splits at the first colon outside of parentheses. */
function split(text: string): readonly [string, string] {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ':' && depth <= 0 && text[index + 1] === ' ')
      return [text.slice(0, index), text.slice(index + 2)];
  }
  return [text, ''];
}
