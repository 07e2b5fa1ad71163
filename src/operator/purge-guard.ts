/** A modules directory, and the modules whose directories are in it. */
export interface ModulesDirectory {
  readonly path: string;
  readonly modules: readonly string[];
}

/** What the clean-up of releases is decided by. */
export interface PurgeFacts {
  /** Releases that would be removed, because the directories of their modules are gone. */
  readonly missing: readonly string[];
  /** How many of these are owned by this operator. */
  readonly missingOwned: number;
  /** How many releases of ours belong to modules that are there. */
  readonly present: number;
  readonly directories: readonly ModulesDirectory[];
  /** The directories as they were when they contained modules; undefined without a record. */
  readonly remembered: readonly ModulesDirectory[] | undefined;
  /** Whether a directory may have become empty. */
  readonly areEmptyAllowed: boolean;
}

export type PurgeDecision =
  | { readonly type: 'purge' }
  /** `reason` is a sentence without its full stop. */
  | { readonly type: 'hold'; readonly reason: string };

/** One or two modules that are gone are no accident of a volume, even if they are most of all. */
const MIN_MISSING = 3;

/**
 * Decides whether releases without a module may be removed. A volume that is not mounted looks as if a user had removed
 * all modules in it, and what an uninstall deletes does not come back.
 */
export function decidePurge(facts: PurgeFacts): PurgeDecision {
  const { missing, present, areEmptyAllowed } = facts;
  if (missing.length === 0) return { type: 'purge' };
  const emptied = emptiedDirectories(facts);
  if (emptied.length > 0) {
    if (areEmptyAllowed) return { type: 'purge' };
    const are =
      emptied.length === 1
        ? 'contained modules before and is empty now'
        : 'contained modules before and are empty now';
    return { type: 'hold', reason: `${emptied.join(', ')} ${are}` };
  }
  const all = missing.length + present;
  if (missing.length >= MIN_MISSING && missing.length * 2 > all)
    return {
      type: 'hold',
      reason: `the directories of ${missing.length} of ${all} modules with releases are gone`,
    };
  return { type: 'purge' };
}

/** Without a record, releases owned by this operator prove that there were modules. */
function emptiedDirectories({ directories, remembered, missingOwned }: PurgeFacts): readonly string[] {
  const empty = directories.filter(({ modules }) => modules.length === 0).map(({ path }) => path);
  if (remembered === undefined) return missingOwned > 0 && empty.length === directories.length ? empty : [];
  return empty.filter((path) => remembered.some((one) => one.path === path && one.modules.length > 0));
}

/**
 * What is to be remembered from now on: directories with modules as they are, and those that are empty as they were until
 * the user has decided about them. Directories that the settings do not name any more are forgotten.
 */
export function rememberedDirectories({
  directories,
  remembered = [],
  areEmptyAllowed,
}: Pick<PurgeFacts, 'directories' | 'remembered' | 'areEmptyAllowed'>): readonly ModulesDirectory[] {
  return directories.flatMap((directory) => {
    if (directory.modules.length > 0 || areEmptyAllowed) return [directory];
    return remembered.filter(({ path }) => path === directory.path);
  });
}

/** Releases that stay until a person decides. */
export interface HeldPurge {
  readonly releases: readonly string[];
  readonly reason: string;
}

/** What a person does about {@link HeldPurge}. */
export const CONFIRM_COMMAND = 'addon-operator module confirm-purge';

/** Sentences for people. */
export function heldText({ reason }: HeldPurge): string {
  return (
    `its release is not removed, because ${reason}. To remove these modules, confirm with "${CONFIRM_COMMAND}"; ` +
    'otherwise restore the directories and restart the operator'
  );
}

/** Keeps the directories where they outlive the daemon. */
export interface DirectoryMemory {
  /** Undefined when nothing is kept. @throws what the API client throws */
  read(signal: AbortSignal): Promise<readonly ModulesDirectory[] | undefined>;
  /** @throws what the API client throws */
  write(directories: readonly ModulesDirectory[], signal: AbortSignal): Promise<void>;
}
