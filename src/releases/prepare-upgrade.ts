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
 * Starts helm for a release that will most likely be deployed with these values soon. If nothing
 * has changed by then the process is used; otherwise it is stopped before it has had any effect.
 * The start of helm then overlaps with the hooks of the module.
 */
export async function prepareUpgrade(
  context: DriverContext,
  { module, values, conflicts = 'overwrite', span = NO_SPAN }: DeployRequest,
  signal: AbortSignal,
): Promise<void> {
  // Templates without Chart.yaml are copied for each run, which saves nothing.
  if (!context.prepared.hasRoom || chartKind(module.path) !== 'chart') return;
  const latest = context.store.known(module.name);
  // A release that needs a repair takes another path.
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
