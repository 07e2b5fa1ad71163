/** States helm gives to a revision of a release. */
export const RELEASE_STATUSES = [
  'deployed',
  'failed',
  'pending-install',
  'pending-upgrade',
  'pending-rollback',
  'superseded',
  'uninstalling',
  'uninstalled',
  'unknown',
] as const;

export type ReleaseStatus = (typeof RELEASE_STATUSES)[number];

/** State of the newest record of a release: helm's status, or that there is no record, or none that can be read. */
export const RELEASE_STATES = ['none', ...RELEASE_STATUSES, 'corrupt'] as const;

export type ReleaseState = (typeof RELEASE_STATES)[number];

/**
 * Who wrote that record last, by our labels on it.
 *
 * - `none`: no addon-operator had a part in the release
 * - `earlier`: we made an earlier revision; another client made this one, or its uninstall
 * - `at-work`: ours, and the process that started helm lives
 * - `cut-off`: ours, and that process ended before it recorded that helm was done
 * - `complete`: ours, recorded as done
 */
export const OWN_RECORDS = ['none', 'earlier', 'at-work', 'cut-off', 'complete'] as const;

export type OwnRecord = (typeof OWN_RECORDS)[number];

/**
 * The action by which a module gets deployed.
 *
 * - `install`: helm installs
 * - `use`: nothing to repair; whether helm has to run depends on the inputs and the objects
 * - `upgrade`: helm upgrades, with any inputs
 * - `mark-failed`: the revision gets the status `failed`, which helm upgrades over
 * - `outwait`: not touched until helm's time-out has passed since the record was written, then as `mark-failed`
 * - `wait`: not touched while that process lives
 * - `set-aside`: the record is moved to another name, and what is left is looked at anew
 */
type DeployRecovery = 'install' | 'use' | 'upgrade' | 'mark-failed' | 'outwait' | 'wait' | 'set-aside';

/** The step from any state of a release to a deployed module. No step uninstalls or drops a record. */
export function deployRecovery(release: ReleaseState, own: OwnRecord): DeployRecovery {
  switch (release) {
    case 'none':
    case 'uninstalled':
      return 'install';
    case 'deployed':
      return own === 'none' || own === 'earlier' ? 'upgrade' : 'use';
    case 'failed':
    case 'superseded':
      return 'upgrade';
    case 'pending-install':
    case 'pending-upgrade':
    case 'pending-rollback':
    case 'uninstalling':
      return unfinished(own);
    case 'unknown':
      return 'mark-failed';
    case 'corrupt':
      return own === 'at-work' ? 'wait' : 'set-aside';
  }
}

function unfinished(own: OwnRecord): DeployRecovery {
  switch (own) {
    case 'none':
    case 'earlier':
      return 'outwait';
    case 'at-work':
      return 'wait';
    case 'cut-off':
    case 'complete':
      return 'mark-failed';
  }
}

/**
 * How a release of this operator is removed. `spare`: it stays, because this operator does not own it. `outwait`, `wait` and
 * `set-aside` as in {@link DeployRecovery}, `uninstall` afterwards.
 */
type UninstallRecovery = 'absent' | 'spare' | 'uninstall' | 'outwait' | 'wait' | 'set-aside';

/** The step from any state of a release to none. `isForced`: also for releases that this operator does not own. */
export function uninstallRecovery(
  release: ReleaseState,
  own: OwnRecord,
  isForced: boolean,
): UninstallRecovery {
  if (release === 'none') return 'absent';
  if (own === 'none' && !isForced) return 'spare';
  const recovery = deployRecovery(release, own);
  switch (recovery) {
    case 'outwait':
    case 'wait':
    case 'set-aside':
      return recovery;
    case 'install':
    case 'use':
    case 'upgrade':
    case 'mark-failed':
      return 'uninstall';
  }
}
