/**
 * The moments beside runs that explain them: edits, new versions, outages, starts. They are few, so the last ones are kept
 * in a ring, and in the file of the journal.
 */

import type { WallClock } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';

/**
 * `start`: this operator began to act, with high availability as the leader. `outage`: the API server gave no response.
 * `config`: the ConfigMap. `files`: saved files were loaded. `version`: a module has other files, is new or removed.
 */
export type MarkKind = 'start' | 'outage' | 'config' | 'files' | 'version';

export interface Mark {
  readonly kind: MarkKind;
  /** On the wall clock. */
  readonly atMs: number;
  /** When it ended; undefined for a moment. */
  readonly untilMs?: number;
  /** For people. */
  readonly text: string;
  /** Name of the module; absent for something global. */
  readonly module?: string;
}

/** A mark as the API shows it. */
export interface MarkView extends Pick<Mark, 'kind' | 'text'> {
  readonly at: string;
  /** Null for a moment. */
  readonly until: string | null;
  /** Empty for something global. */
  readonly module: string;
}

const MAX_MARKS = 500;
const MAX_TEXT = 200;

/** The last 500 marks. */
export class Marks {
  readonly #clock: WallClock;
  readonly #onAdded: (mark: Mark) => void;
  #marks: readonly Mark[] = [];

  /** @param onAdded called with each mark of this start */
  constructor(clock: WallClock, earlier: readonly Mark[], onAdded: (mark: Mark) => void) {
    this.#clock = clock;
    this.#onAdded = onAdded;
    this.#marks = earlier.slice(-MAX_MARKS);
  }

  /** Records that something happens now, or has lasted until now. */
  add({ kind, text, module }: Pick<Mark, 'kind' | 'text' | 'module'>, lastedMs?: number): void {
    const nowMs = this.#clock.wallMs();
    const mark: Mark = {
      kind,
      text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text,
      ...(module !== undefined && { module }),
      atMs: nowMs - (lastedMs ?? 0),
      ...(lastedMs !== undefined && { untilMs: nowMs }),
    };
    this.#marks = [...this.#marks, mark].slice(-MAX_MARKS);
    this.#onAdded(mark);
  }

  /** Those that were not over at a time, the oldest first. @param sinceMs on the wall clock */
  since(sinceMs: number): readonly MarkView[] {
    return this.#marks
      .filter(({ atMs, untilMs = atMs }) => untilMs >= sinceMs)
      .sort((a, b) => a.atMs - b.atMs)
      .map(({ kind, atMs, untilMs, text, module = '' }) => ({
        kind,
        at: isoTime(atMs),
        until: untilMs === undefined ? null : isoTime(untilMs),
        text,
        module,
      }));
  }
}
