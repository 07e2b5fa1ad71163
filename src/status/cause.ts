/** The conditions that a module needs, in the order in which they have to become true. */
export const WHY_IDS = [
  'authorized',
  'found',
  'config',
  'enabled',
  'not-paused',
  'requirements',
  'queue',
  'synchronized',
  'before-helm',
  'helm',
  'ready',
] as const;
export type WhyId = (typeof WHY_IDS)[number];

/** What keeps a module from being ready, or from following a change. */
export interface Cause {
  /** The first condition that is not true for this. */
  readonly node: WhyId;
  /** One word in CamelCase. */
  readonly reason: string;
  /** One sentence with what is waited for, and until when if that is known. Never relative times: it is stored. */
  readonly text: string;
  /** When it is tried next, or ends; null if that is not known. */
  readonly until: string | null;
  /** It is an error, or needs a person; otherwise it goes on without help. */
  readonly isStalled: boolean;
  /** What is in the way, such as `queue/main`, `module/db` or `hook/web/hooks/a.sh`. */
  readonly ref: string | null;
  /** The command or edit that mends it. */
  readonly remedy: string | null;
}
