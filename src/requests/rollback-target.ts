import type { RevisionView } from '../status/module-details.ts';

/** The revision to go back to, or a sentence that says why there is none. */
export type RollbackTarget =
  | { readonly type: 'revision'; readonly revision: RevisionView }
  | { readonly type: 'none'; readonly reason: string };

/**
 * Chooses the revision of a rollback. By default it is the newest good one with other files than the
 * running one; after a failed deployment the newest good one, since that may have failed by its
 * values.
 *
 * @param revisions the newest first
 * @param to a revision or a version; undefined for the default
 */
export function rollbackTarget(revisions: readonly RevisionView[], to: string | undefined): RollbackTarget {
  const [newest, ...earlier] = revisions;
  if (newest === undefined) return none('it has no release');
  if (to !== undefined && /^\d+$/.test(to)) return chosenRevision(newest, earlier, Number(to));
  if (to !== undefined) return chosenVersion(newest, earlier, to.replace(/^v/, ''));
  const good = earlier.filter(({ outcome }) => outcome === 'running' || outcome === 'replaced');
  const found = newest.outcome === 'running' ? good.find((one) => !isOfSameFiles(one, newest)) : good[0];
  if (found !== undefined) return { type: 'revision', revision: found };
  return none(
    'no earlier revision was deployed well from other files: name one of "module history" with --to',
  );
}

function chosenRevision(
  newest: RevisionView,
  earlier: readonly RevisionView[],
  number: number,
): RollbackTarget {
  if (number === newest.revision) return none(`revision ${number} is its newest one already`);
  const found = earlier.find(({ revision }) => revision === number);
  return found === undefined
    ? none(`it has no revision ${number}, see "module history"`)
    : unlessFailed(found);
}

function chosenVersion(
  newest: RevisionView,
  earlier: readonly RevisionView[],
  version: string,
): RollbackTarget {
  const isRunning = newest.version === version && newest.outcome === 'running';
  if (isRunning)
    return none(`version ${version} is running already: name a revision to change its values only`);
  const found = earlier.filter((one) => one.version === version);
  const [first] = found;
  if (first === undefined) return none(`it has no revision of version ${version}, see "module history"`);
  return unlessFailed(found.find(isDeployed) ?? first);
}

function unlessFailed(found: RevisionView): RollbackTarget {
  if (isDeployed(found)) return { type: 'revision', revision: found };
  return none(`revision ${found.revision} was never deployed well: it is ${found.outcome}`);
}

function isDeployed({ outcome }: RevisionView): boolean {
  return outcome === 'running' || outcome === 'replaced' || outcome === 'rolled-back';
}

function none(reason: string): RollbackTarget {
  return { type: 'none', reason };
}

/** Revisions from before their files were recorded are compared by their versions. */
function isOfSameFiles(a: RevisionView, b: RevisionView): boolean {
  return a.files === null || b.files === null ? a.version === b.version : a.files === b.files;
}
