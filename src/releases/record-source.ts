import { isOurRevision } from '@addon-operator/helm/record-metadata';
import {
  filesOfRevision,
  isRecorded,
  packSource,
  type ReleaseSource,
  type SettingsSchemaTexts,
  sourceLabels,
} from '@addon-operator/helm/release-source';
import type { DriverContext } from './driver-context.ts';

/** The source of a release; its schemas are read only when it has changed. */
export interface DeployedSource extends ReleaseSource {
  readonly schemas: () => Promise<SettingsSchemaTexts>;
}

interface Deployed {
  readonly release: string;
  readonly source: DeployedSource | undefined;
}

/**
 * Records with the newest revision what it is deployed from, also where new files or settings of the
 * module needed no new revision. Called after a deployment; a process that is killed in between
 * records it at the next one.
 *
 * @throws errors of the API client
 */
export async function recordSource(
  { store }: Pick<DriverContext, 'store'>,
  { release, source }: Deployed,
  revision: number,
  signal: AbortSignal,
): Promise<void> {
  const latest = store.known(release);
  if (source === undefined || latest?.revision !== revision || !isOurRevision(latest.labels, revision))
    return;
  if (isRecorded(latest.labels, revision, source)) return;
  await store.writeSource(latest, packSource(source, await source.schemas()), signal);
  // Last, since the label says that all is recorded.
  await store.setMetadata(release, revision, { labels: sourceLabels(revision, source) }, signal);
}

/**
 * Records the files of a revision that a deployment left failed. Its own error is the one to report,
 * so errors here are only logged.
 */
export async function recordFailedSource(
  { store, log }: Pick<DriverContext, 'store' | 'log'>,
  { release, source }: Deployed,
  signal: AbortSignal,
): Promise<void> {
  if (source === undefined || signal.aborted) return;
  try {
    const latest = await store.latest(release, signal);
    if (latest?.status !== 'failed') return;
    const { revision, labels } = latest;
    if (filesOfRevision(labels, revision) !== undefined) return;
    await store.setMetadata(release, revision, { labels: sourceLabels(revision, source) }, signal);
  } catch (error) {
    if (!signal.aborted) log.warn({ release, error }, 'cannot record the files of a failed revision');
  }
}
