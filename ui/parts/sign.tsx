/** Signs, colours and words for states. Each state has all three, so no information is in the colour alone. */

import type { VNode } from 'preact';
import type { ModuleStatus, NextItem, ObjectState, QueueResponse, RunView } from '../lib/responses.ts';

/** How a thing is, as a colour; the sign and the word beside it say the same. */
export type Tone = 'ok' | 'wait' | 'bad' | 'busy' | 'off';

/** Lines in a square of 16. */
const PATHS = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4.5 4.5l7 7m0-7l-7 7',
  clock: 'M8 4.5V8l2.5 1.5M8 1.8a6.2 6.2 0 100 12.4A6.2 6.2 0 008 1.8z',
  pause: 'M5.8 4v8m4.4-8v8',
  dash: 'M4 8h8',
  play: 'M5.5 3.8v8.4L12 8z',
  again: 'M12.6 6.2A5 5 0 103 8.6m9.8-5.4v3.2H9.6',
  lock: 'M4 7.2h8v5.6H4zM5.6 7V5.4a2.4 2.4 0 014.8 0V7',
  alert: 'M8 3.2v6m0 2.6v.4',
  stop: 'M5 5h6v6H5z',
  bin: 'M3.5 4.8h9M6.4 4.6V3.2h3.2v1.4m-5 .4l.6 8h5.6l.6-8',
  circle: 'M8 5.4a2.6 2.6 0 100 5.2 2.6 2.6 0 000-5.2z',
  arrow: 'M3.5 8h9M9 4.5L12.5 8 9 11.5',
} as const;

export type SignName = keyof typeof PATHS;

/** How a state is shown. */
interface Kind {
  readonly tone: Tone;
  readonly sign: SignName;
  readonly word: string;
}

/** In the order in which lists and filters show them: problems first. */
export const MODULE_KINDS: Readonly<Record<ModuleStatus, Kind>> = {
  failing: { tone: 'bad', sign: 'cross', word: 'failing' },
  isolated: { tone: 'bad', sign: 'stop', word: 'isolated' },
  unauthorized: { tone: 'bad', sign: 'lock', word: 'unauthorized' },
  held: { tone: 'bad', sign: 'alert', word: 'held' },
  'held-up': { tone: 'wait', sign: 'alert', word: 'held up' },
  starting: { tone: 'busy', sign: 'play', word: 'starting' },
  deleting: { tone: 'wait', sign: 'bin', word: 'deleting' },
  undecided: { tone: 'wait', sign: 'clock', word: 'undecided' },
  paused: { tone: 'wait', sign: 'pause', word: 'paused' },
  ready: { tone: 'ok', sign: 'check', word: 'ready' },
  disabled: { tone: 'off', sign: 'dash', word: 'disabled' },
};

/** Results of runs. */
export const RUN_KINDS: Readonly<Record<RunView['result'], Kind>> = {
  success: { tone: 'ok', sign: 'check', word: 'succeeded' },
  failed: { tone: 'bad', sign: 'cross', word: 'failed' },
  repeat: { tone: 'wait', sign: 'again', word: 'runs again' },
  skipped: { tone: 'off', sign: 'dash', word: 'skipped' },
  aborted: { tone: 'off', sign: 'stop', word: 'aborted' },
  running: { tone: 'busy', sign: 'play', word: 'running' },
};

/** States of objects of a release. */
export const OBJECT_KINDS: Readonly<Record<ObjectState, Kind>> = {
  missing: { tone: 'bad', sign: 'cross', word: 'missing' },
  'not-ready': { tone: 'wait', sign: 'clock', word: 'not ready' },
  unknown: { tone: 'off', sign: 'alert', word: 'not known' },
  'not-permitted': { tone: 'off', sign: 'lock', word: 'not permitted' },
  ready: { tone: 'ok', sign: 'check', word: 'ready' },
};

/** States of the worker of a queue. */
export const QUEUE_KINDS: Readonly<Record<QueueResponse['status']['type'], Kind>> = {
  running: { tone: 'busy', sign: 'play', word: 'running' },
  delayed: { tone: 'bad', sign: 'clock', word: 'waits to retry' },
  repeating: { tone: 'wait', sign: 'again', word: 'waits' },
  idle: { tone: 'off', sign: 'circle', word: 'idle' },
  waiting: { tone: 'ok', sign: 'check', word: 'empty' },
  stopped: { tone: 'off', sign: 'stop', word: 'stopped' },
};

/** Kinds of things that happen at a known time. */
export const NEXT_KINDS: Readonly<Record<NextItem['kind'], Kind>> = {
  retry: { tone: 'bad', sign: 'again', word: 'retry' },
  schedule: { tone: 'off', sign: 'clock', word: 'schedule' },
  recheck: { tone: 'off', sign: 'check', word: 'recheck' },
  debounce: { tone: 'wait', sign: 'pause', word: 'end of a burst' },
  'pause-end': { tone: 'wait', sign: 'pause', word: 'end of a pause' },
};

/** A kind that a later version of the operator sends. */
const UNKNOWN: Kind = { tone: 'off', sign: 'circle', word: '' };

/** A key that this page does not know shows as its own word. */
export function kindOf<Key extends string>(kinds: Readonly<Record<Key, Kind>>, key: Key): Kind {
  return Object.hasOwn(kinds, key) ? kinds[key] : { ...UNKNOWN, word: key };
}

/** A small picture; the word beside it says the same. */
export function Sign({ name, tone }: { name: SignName; tone?: Tone | undefined }): VNode {
  return (
    <svg class={`sign ${tone ?? ''}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A sign with its word. */
export function Badge({ kind, text }: { kind: Kind; text?: string }): VNode {
  return (
    <span class={`badge ${kind.tone}`}>
      <Sign name={kind.sign} />
      {text ?? kind.word}
    </span>
  );
}
