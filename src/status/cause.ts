/* The types of causes and of the tree of conditions, with the order in which conditions become true. */

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
  'hooks',
  'ready',
] as const;
export type WhyId = (typeof WHY_IDS)[number];

/** One reason why a module is not ready, or does not follow a change. */
export interface Cause {
  /** The first condition that is not true for this. */
  readonly node: WhyId;
  /** One word in CamelCase. */
  readonly reason: string;
  /**
   * One sentence with what is waited for. It is stored in the objects of all modules that wait for the same, so it has
   * neither relative times nor the time of the next attempt.
   */
  readonly text: string;
  /** When it is tried next, or ends; null if that is not known. */
  readonly until: string | null;
  /** It is an error or needs a person; otherwise it ends by itself. */
  readonly isStalled: boolean;
  /** The object in the way, such as `queue/main`, `module/db` or `hook/web/hooks/a.sh`. */
  readonly ref: string | null;
  /** The command or edit that fixes it. */
  readonly remedy: string | null;
}

/** A condition of a module with those that it consists of. The words are for people. */
export interface WhyNode {
  /** One of {@link WHY_IDS} in the first level; below it the name of a source, a module or a hook. */
  readonly id: string;
  /** Null: not known, or not reached. */
  readonly ok: boolean | null;
  readonly text: string;
  /** The reason of its cause, such as `HookHangs`; null without one. */
  readonly reason: string | null;
  /** Who says so, such as `KubeConfig`; null where that is the operator. */
  readonly source: string | null;
  /** A file, or what is in the way, such as `queue/main`. */
  readonly ref: string | null;
  /** The command or edit that makes it true; null where it is true, or becomes so without help. */
  readonly remedy: string | null;
  /** When it is tried next, or ends. */
  readonly until: string | null;
  readonly children: readonly WhyNode[];
}

/** The first condition that is not true; undefined if there is none. */
export function firstFalse({ children }: WhyNode): WhyNode | undefined {
  return children.find(({ ok }) => ok === false);
}

const MARKS = { true: 'yes', false: 'no', null: '-' } as const;

/** The tree as rows for people: whether it is true, what, and why. Children that say nothing are left out. */
export function whyRows(root: WhyNode): readonly (readonly [string, string, string])[] {
  return root.children.flatMap((child) => [
    rowOf(child, child.id),
    ...child.children
      .filter(({ ok }) => ok !== null)
      .map((grandchild) => rowOf(grandchild, `${child.id}/${grandchild.id}`)),
  ]);
}

function rowOf({ ok, text, ref }: WhyNode, name: string): readonly [string, string, string] {
  const file = ref?.startsWith('/') === true && !text.includes(ref) ? ` (${ref})` : '';
  return [MARKS[`${ok}`], name, `${text}${file}`];
}
