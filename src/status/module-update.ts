// A version of a module that does not run yet: whether a person has to do something about it, and what. Status,
// explanations, lists, the page and the API say it in these words.

/** The end of the wait: `fix` the correction of an error, `decision` that of a person, `time` only time. */
export type UpdateNeed = 'fix' | 'decision' | 'time';

/** A version of a module that does not run yet. */
export interface ModuleUpdate {
  readonly version: string | null;
  readonly digest: string | null;
  /** One word in CamelCase, such as `NotLoadable`. */
  readonly reason: string;
  readonly message: string;
  readonly since: string;
  /** When it may go on by itself; absent where no time ends it. */
  readonly until?: string;
  readonly needs: UpdateNeed;
  /** The remedy for a person; absent where nothing has to be done. */
  readonly remedy?: string;
  /** No version of the module runs yet; absent for an update. */
  readonly isFirst?: true;
}

interface Rule {
  readonly needs: UpdateNeed;
  readonly remedy?: (module: string, version: string) => string;
}

const approve = (module: string, version: string): string =>
  `\`addon-operator module approve ${module}${version === '' ? '' : ` ${version}`}\``;

/** By the reasons of the switch and of delivery. */
const RULES: Readonly<Record<string, Rule>> = {
  ArtifactInvalid: { needs: 'fix', remedy: () => 'publish a corrected artifact' },
  Failed: {
    needs: 'fix',
    remedy: (module, version) =>
      `publish a corrected version, or try this one once more with ${approve(module, version)}`,
  },
  Held: {
    needs: 'decision',
    remedy: (module, version) =>
      `\`addon-operator module unhold ${module}\` ends a hold; after failed updates ${approve(module, version)}`,
  },
  NeedsApproval: { needs: 'decision', remedy: approve },
  NotFound: { needs: 'decision', remedy: () => 'publish it, or correct the ModuleInstall' },
  NotLoadable: { needs: 'fix', remedy: () => 'correct the files of the module' },
  OutsideWindow: {
    needs: 'decision',
    remedy: (module, version) =>
      `correct the windows of the ModuleInstall, or ${approve(module, version)} with --now`,
  },
  RequirementMissing: { needs: 'decision', remedy: () => 'enable or update what it requires' },
  SettingsInvalid: {
    needs: 'fix',
    remedy: (module) => `correct the section of module ${module} in the ConfigMap`,
  },
  Soaking: { needs: 'time' },
  SourceUnavailable: { needs: 'time' },
  Unverified: {
    needs: 'fix',
    remedy: () => 'sign it with a key that its ModuleSource trusts, or correct the keys there',
  },
  UpdateFailures: {
    needs: 'decision',
    remedy: () => `correct those modules, or ${approve('MODULE', 'VERSION')} for each of them`,
  },
  UpdateLimit: { needs: 'time' },
  VersionChanged: {
    needs: 'fix',
    remedy: () => 'publish the content under another version, or correct the tag',
  },
  WouldFail: { needs: 'fix', remedy: () => 'correct what the message names; it is tried again every minute' },
};

const UNKNOWN_REASON: Rule = { needs: 'decision' };

/** Adds who has to do what. */
export function moduleUpdate(module: string, update: Omit<ModuleUpdate, 'needs' | 'remedy'>): ModuleUpdate {
  const { reason, version, until } = update;
  const { needs, remedy } = RULES[reason] ?? UNKNOWN_REASON;
  // A window that opens needs no person.
  if (needs === 'time' || (reason === 'OutsideWindow' && until !== undefined))
    return { ...update, needs: 'time' };
  return { ...update, needs, ...(remedy && { remedy: remedy(module, version ?? '') }) };
}

/** One sentence about an update, without its full stop. */
export function updateText(module: string, update: ModuleUpdate): string {
  const { version, reason, message, needs, isFirst, until } = update;
  const verb = isFirst === true ? 'is not installed' : 'is not updated';
  const what = version === null ? verb : isFirst === true ? `${verb} as ${version}` : `${verb} to ${version}`;
  const before = needs === 'fix' && isFirst !== true ? '; the version before goes on' : '';
  return `module ${module} ${what}: ${reason}: ${message}${until === undefined ? '' : `, until ${until}`}${before}`;
}
