import { messageOf } from '@addon-operator/base/errors';
import type { ReleaseRevision, ReleaseStore } from './release-store.ts';

/** One revision of a release for people. */
export interface RevisionSummary {
  readonly revision: number;
  readonly status: string;
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
}

/** A record may have a megabyte, and with unlimited histories there may be hundreds. */
const MAX_REVISIONS = 20;

/** Reads former revisions from the records of helm. */
export function releaseHistory(store: Pick<ReleaseStore, 'history' | 'payload'>): ReleaseHistory {
  return {
    list: async (release, signal) => {
      const revisions = (await store.history(release, signal)).toReversed().slice(0, MAX_REVISIONS);
      const summaries: RevisionSummary[] = [];
      // One at a time: reading them all at once would need the memory of all.
      for (const revision of revisions) summaries.push(await summaryOf(store, revision, signal));
      return summaries;
    },
    manifest: async (release, revision, signal) => {
      const found = (await store.history(release, signal)).find((other) => other.revision === revision);
      return found === undefined ? undefined : (await store.payload(found, signal)).manifest;
    },
  };
}

async function summaryOf(
  store: Pick<ReleaseStore, 'payload'>,
  revision: ReleaseRevision,
  signal: AbortSignal,
): Promise<RevisionSummary> {
  const facts = { revision: revision.revision, status: revision.status };
  try {
    const { chart, info } = await store.payload(revision, signal);
    const name = [chart.name, chart.version].filter((part) => part !== '').join('-');
    const { deployedAt, description } = info;
    return { ...facts, deployedAt: deployedAt === '' ? null : deployedAt, chart: name, description };
  } catch (error) {
    signal.throwIfAborted();
    return { ...facts, deployedAt: null, chart: '', description: messageOf(error) };
  }
}
