import { NO_SPAN } from '@addon-operator/base/trace';
import { futureSpan } from '@addon-operator/base/trace-id';
import { chartKind } from '@addon-operator/helm/chart-source';
import { ownFacts } from '@addon-operator/helm/record-metadata';
import { withRunDirectory } from '@addon-operator/helm/run-directory';
import { readChartState } from './chart-state.ts';
import type { DeployRequest } from './deploy.ts';
import type { DriverContext } from './driver-context.ts';
import { type GatedRun, gateKeyOf, runAhead } from './gated-run.ts';

/**
 * Starts helm for a release that will most likely be deployed in a moment with these values. When it comes to that and
 * everything is as it is now, the process is used; otherwise it is stopped before it has done anything.
 */
export async function prepareUpgrade(
  context: DriverContext,
  { module, values, conflicts = 'overwrite', span = NO_SPAN }: DeployRequest,
  signal: AbortSignal,
): Promise<void> {
  // The templates of a directory that is no chart of its own are copied for each run.
  if (!context.prepared.hasRoom || chartKind(module.path) !== 'chart') return;
  const latest = context.store.known(module.name);
  if (latest !== undefined && latest.status !== 'deployed') return;
  const { inputDigest, contents } = await readChartState(context, { module, values }, signal);
  if (latest !== undefined && ownFacts(latest.labels, latest.revision).inputDigest === inputDigest) return;
  const run: GatedRun = {
    module,
    chart: contents,
    inputDigest,
    lastRevision: latest?.revision ?? 0,
    isInstalled: latest === undefined,
    isForced: conflicts === 'overwrite',
  };
  context.prepared.prepare(
    module.name,
    gateKeyOf(context, run),
    (preparation, stopping) =>
      withRunDirectory(context.workDir, (directory) =>
        runAhead(context, run, { ...preparation, directory }, stopping),
      ),
    futureSpan(span),
  );
}
