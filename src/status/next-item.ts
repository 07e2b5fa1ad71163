/** Kinds of things that happen at a known time. */
export const NEXT_ITEM_KINDS = ['retry', 'debounce', 'schedule', 'recheck', 'pause-end'] as const;

/** Something that happens at a known time. Strings are empty where there is nothing. */
export interface NextItem {
  /** RFC 3339 in UTC. */
  readonly at: string;
  /** `retry`: of a failed task, or of a hook that reported a temporary failure. `debounce`: of events that are held back. `schedule`: a crontab of a hook. `recheck`: of a module. `pause-end`: of a module, or of all. */
  readonly kind: (typeof NEXT_ITEM_KINDS)[number];
  /** For people. */
  readonly text: string;
  readonly module: string;
  readonly hook: string;
  readonly crontab: string;
}
