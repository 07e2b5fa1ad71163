import type { ActionName } from './action-names.ts';

/**
 * One thing that holds the operator up, for people and programs. Strings are empty where there is nothing. The targets of
 * `actions` are the fields `module`, `queue`, `hook` and `binding`.
 */
export interface Problem {
  /** `broken`: it needs a person. `waiting`: it ends by itself. `notice`: all runs, perhaps not all that was meant to. */
  readonly level: 'notice' | 'waiting' | 'broken';
  /** One sentence. */
  readonly text: string;
  /** The first failure in a row, or the start of what runs or is paused; RFC 3339 in UTC. Null: not known. */
  readonly since: string | null;
  readonly module: string;
  /** `web/hooks/a.sh`, or the name of a global hook. */
  readonly hook: string;
  readonly binding: string;
  readonly queue: string;
  /** Id of the last run, as far as the journal has it. */
  readonly run: string;
  /** What a person can do, each a sentence or a command; the best first. */
  readonly advice: readonly string[];
  /** The requests that help, the best first. */
  readonly actions: readonly ActionName[];
}

/** A sentence about a binding of a hook. */
export interface HookSentence {
  readonly text: string;
  /** Empty for a global hook. */
  readonly module: string;
  /** With its module in front. */
  readonly hook: string;
  readonly binding: string;
  /** Null: not known. */
  readonly since: string | null;
}
