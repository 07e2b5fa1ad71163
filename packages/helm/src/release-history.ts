import { messageOf } from '@addon-operator/base/errors';
import type { ReleaseStatus } from './recovery-table.ts';
import { filesOfRevision, type RecordedSource, unpackSource } from './release-source.ts';
import type { ReleaseRevision, ReleaseStore } from './release-store.ts';

/**
 * The outcome of a revision. `rolled-back`: a rollback took its place. `unfinished`: helm works on
 * it, or was interrupted.
 */
export type RevisionOutcome = 'running' | 'replaced' | 'failed' | 'rolled-back' | 'unfinished';

/** One revision of a release for people. */
export interface RevisionSummary {
  readonly revision: number;
  /** Helm's own. */
  readonly status: string;
  readonly outcome: RevisionOutcome;
  /** Why it failed or was rolled back, or what it is a rollback to; empty for others. */
  readonly reason: string;
  /** Of the module, else of its chart; empty if neither is known. */
  readonly version: string;
  /** Digest of the files of the module; null where it is not recorded. */
  readonly files: string | null;
  /** Whether the section of the ConfigMap is recorded. */
  readonly hasSection: boolean;
  /** RFC 3339; null if it is not known. */
  readonly deployedAt: string | null;
  /** `<name>-<version>`; empty if the record cannot be read. */
  readonly chart: string;
  /** Helm's description of it, or the reason why its record cannot be read. */
  readonly description: string;
}

/** The former revisions of a release. */
export interface ReleaseHistory {
  /** The last 20 revisions of a release, the newest first. @throws the errors of the API client */
  list(release: string, signal: AbortSignal): Promise<readonly RevisionSummary[]>;
  /**
   * The manifest of a revision, as YAML; undefined if there is no such revision.
   *
   * @throws OperatorError HELM_RELEASE_CORRUPT, or the errors of the API client
   */
  manifest(release: string, revision: number, signal: AbortSignal): Promise<string | undefined>;
  /** The source of a revision, beside its files; undefined where that is not recorded. @throws the errors of the API client */
  source(release: string, revision: number, signal: AbortSignal): Promise<RecordedSource | undefined>;
}

/** A record may have a megabyte, and with unlimited histories there may be hundreds. */
const MAX_REVISIONS = 20;

/** Reads former revisions from the records of helm. */
export function releaseHistory(store: Pick<ReleaseStore, 'history' | 'payload' | 'sources'>): ReleaseHistory {
  return {
    list: async (release, signal) => {
      const revisions = (await store.history(release, signal)).slice(-MAX_REVISIONS);
      const sources = await store.sources(release, signal);
      const summaries: RevisionSummary[] = [];
      // One at a time: reading them all at once would need the memory of all.
      for (const revision of revisions) {
        const source = unpackSource(sources.get(revision.recordName));
        summaries.push(await summaryOf(store, revision, source, signal));
      }
      return summaries.map((summary, index) => withRollback(summary, summaries[index + 1])).toReversed();
    },
    source: async (release, revision, signal) => {
      const found = (await store.history(release, signal)).find((other) => other.revision === revision);
      if (found === undefined) return undefined;
      return unpackSource((await store.sources(release, signal)).get(found.recordName));
    },
    manifest: async (release, revision, signal) => {
      const found = (await store.history(release, signal)).find((other) => other.revision === revision);
      return found === undefined ? undefined : (await store.payload(found, signal)).manifest;
    },
  };
}

/** Helm's description of a revision that a rollback made. */
const ROLLBACK = /^Rollback to (?<target>\d+)/;

/** The revision that a revision went back to; undefined for one that is no rollback. */
function rollbackTarget(description: string): number | undefined {
  const target = ROLLBACK.exec(description)?.groups?.['target'];
  return target === undefined ? undefined : Number(target);
}

/** Marks a revision whose place a rollback took. */
function withRollback(summary: RevisionSummary, next: RevisionSummary | undefined): RevisionSummary {
  const target = next && rollbackTarget(next.description);
  if (target === undefined || target === summary.revision || summary.outcome !== 'replaced') return summary;
  return { ...summary, outcome: 'rolled-back', reason: `rolled back to revision ${target}` };
}

async function summaryOf(
  store: Pick<ReleaseStore, 'payload'>,
  revision: ReleaseRevision,
  source: RecordedSource | undefined,
  signal: AbortSignal,
): Promise<RevisionSummary> {
  const { revision: number, status, labels } = revision;
  const outcome = outcomeOf(status);
  const facts = {
    revision: number,
    status,
    outcome,
    files: filesOfRevision(labels, number) ?? null,
    hasSection: source?.section !== undefined,
  };
  try {
    const { chart, info } = await store.payload(revision, signal);
    const name = [chart.name, chart.version].filter((part) => part !== '').join('-');
    const { deployedAt, description } = info;
    return {
      ...facts,
      reason: outcome === 'failed' || rollbackTarget(description) !== undefined ? description : '',
      version: source?.version ?? chart.version,
      deployedAt: deployedAt === '' ? null : deployedAt,
      chart: name,
      description,
    };
  } catch (error) {
    signal.throwIfAborted();
    const description = messageOf(error);
    const version = source?.version ?? '';
    return { ...facts, reason: description, version, deployedAt: null, chart: '', description };
  }
}

function outcomeOf(status: ReleaseStatus): RevisionOutcome {
  switch (status) {
    case 'deployed':
      return 'running';
    case 'superseded':
      return 'replaced';
    case 'failed':
      return 'failed';
    case 'pending-install':
    case 'pending-upgrade':
    case 'pending-rollback':
    case 'uninstalling':
    case 'uninstalled':
    case 'unknown':
      return 'unfinished';
  }
}
