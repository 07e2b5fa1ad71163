/** A modules directory, and the modules whose directories are in it. */
export interface ModulesDirectory {
  readonly path: string;
  readonly modules: readonly string[];
}

/** The facts that decide whether releases are removed. */
export interface PurgeFacts {
  /** Releases that would be removed, because the directories of their modules are gone. */
  readonly missing: readonly string[];
  /** The number of them that this operator owns. */
  readonly missingOwned: number;
  /** The number of releases owned by this operator whose modules exist. */
  readonly present: number;
  readonly directories: readonly ModulesDirectory[];
  /** The directories as they were when they contained modules; undefined without a record. */
  readonly remembered: readonly ModulesDirectory[] | undefined;
  /** Whether a directory may have become empty. */
  readonly areEmptyAllowed: boolean;
}

export type PurgeVerdict =
  | { readonly type: 'purge' }
  /** `reason` is a sentence without its full stop. */
  | { readonly type: 'hold'; readonly reason: string };

/** One or two modules that are gone are no accident of a volume, even if they are most of all. */
const MIN_MISSING = 3;

/**
 * Decides whether releases without a module may be removed. A volume that is not mounted looks as if a user had removed
 * all modules in it, and what an uninstall deletes does not come back.
 */
export function decidePurge(facts: PurgeFacts): PurgeVerdict {
  const { missing, areEmptyAllowed } = facts;
  if (missing.length === 0) return { type: 'purge' };
  const reason = accidentOf(facts);
  return reason === undefined || areEmptyAllowed ? purgeOfFew(facts) : { type: 'hold', reason };
}

/** Whether so many of all modules are gone at once that it is more likely an accident than a decision. */
export function areMostGone(gone: number, all: number): boolean {
  return gone >= MIN_MISSING && gone * 2 > all;
}

// Also without a sign of an accident a large part of the releases is not removed unasked.
function purgeOfFew({ missing, present }: PurgeFacts): PurgeVerdict {
  const all = missing.length + present;
  if (!areMostGone(missing.length, all)) return { type: 'purge' };
  return {
    type: 'hold',
    reason: `the directories of ${missing.length} of ${all} modules with releases are gone`,
  };
}

/** A sentence about directories that seem to be missing by accident; undefined if none do. */
function accidentOf(facts: PurgeFacts): string | undefined {
  const { directories, remembered, missingOwned, present } = facts;
  const emptied = emptiedDirectories(facts);
  if (emptied.length > 0) return emptiedText(emptied);
  if (missingOwned === 0 || isAsRemembered(directories, remembered)) return undefined;
  const paths = directories.map(({ path }) => path).join(', ');
  if (directories.every(({ modules }) => modules.length === 0))
    // Without a record, releases owned by this operator prove that there were modules.
    return remembered === undefined && directories.length > 0
      ? emptiedText(directories.map(({ path }) => path))
      : `there are no modules in ${paths || 'any directory'}, and there are releases of this operator`;
  if (remembered !== undefined && (present === 0 || !shareModules(directories, remembered)))
    return `the modules directories have changed (before: ${remembered.map(({ path }) => path).join(', ')}), and ${paths} contains none of the modules that had releases before`;
  return undefined;
}

/** Compares directories, not releases: new modules have releases by now, which prove nothing. */
function shareModules(a: readonly ModulesDirectory[], b: readonly ModulesDirectory[]): boolean {
  const names = new Set(b.flatMap(({ modules }) => modules));
  return a.some(({ modules }) => modules.some((name) => names.has(name)));
}

function emptiedText(paths: readonly string[]): string {
  return `${paths.join(', ')} contained modules before and ${paths.length === 1 ? 'is' : 'are'} empty now`;
}

/** Directories that are empty, and were not before. */
function emptiedDirectories({ directories, remembered = [] }: PurgeFacts): readonly string[] {
  const empty = directories.filter(({ modules }) => modules.length === 0).map(({ path }) => path);
  return empty.filter((path) => remembered.some((one) => one.path === path && one.modules.length > 0));
}

/** Whether the same directories are configured: what they contain was looked at before. */
function isAsRemembered(
  directories: readonly ModulesDirectory[],
  remembered: readonly ModulesDirectory[] = [],
): boolean {
  const paths = new Set(remembered.map(({ path }) => path));
  return directories.length === paths.size && directories.every(({ path }) => paths.has(path));
}

/**
 * The directories to remember from now on: those with modules as they are, and empty ones as they
 * were, until the user has decided about them. While releases are held the record stays as it was.
 */
export function rememberedDirectories(
  {
    directories,
    remembered = [],
    areEmptyAllowed,
  }: Pick<PurgeFacts, 'directories' | 'remembered' | 'areEmptyAllowed'>,
  decision: PurgeVerdict['type'],
): readonly ModulesDirectory[] {
  if (decision === 'hold') return remembered;
  return directories.map((directory) => {
    if (directory.modules.length > 0 || areEmptyAllowed) return directory;
    return remembered.find(({ path }) => path === directory.path) ?? directory;
  });
}

/** Releases that stay until a person decides. */
export interface HeldPurge {
  readonly releases: readonly string[];
  readonly reason: string;
}

/** The command with which a user releases {@link HeldPurge}. */
export const CONFIRM_COMMAND = 'addon-operator module confirm-purge';

/** Sentences for people. */
export function heldPurgeText({ reason }: HeldPurge): string {
  return (
    `its release is not removed, because ${reason}. To remove these modules, confirm with "${CONFIRM_COMMAND}"; ` +
    'otherwise restore the directories: the modules continue by themselves'
  );
}

/** Keeps the directories where they outlive the daemon. */
export interface DirectoryMemory {
  /** Undefined when nothing is kept. @throws what the API client throws */
  read(signal: AbortSignal): Promise<readonly ModulesDirectory[] | undefined>;
  /** @throws what the API client throws */
  write(directories: readonly ModulesDirectory[], signal: AbortSignal): Promise<void>;
}
