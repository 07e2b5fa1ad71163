import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SpanContext } from '@addon-operator/base/trace';
import { type ChartContents, isUsedInPlace, stageChart } from '@addon-operator/helm/chart-source';
import { upgradeArguments } from '@addon-operator/helm/helm-arguments';
import { type HelmOutcome, runHelm } from '@addon-operator/helm/helm-process';
import type { Preparation } from '@addon-operator/helm/prepared-helm';
import { labelsAtStart, UNMANAGED_LABEL } from '@addon-operator/helm/record-metadata';
import { type Decide, RenderGate } from '@addon-operator/helm/render-gate';
import { canonicalJson } from '@addon-operator/json';
import { type ChartModule, type DriverContext, processLimitMs } from './driver-context.ts';

/** What decides the arguments of one `helm upgrade --install`, its values aside. */
export interface GatedRun {
  readonly module: ChartModule;
  readonly chart: ChartContents;
  readonly inputDigest: string;
  /** Latest revision before this run; 0 without a release. */
  readonly lastRevision: number;
  /** Whether helm installs, be it over records of an uninstalled release or of failed installs; else it upgrades. */
  readonly isInstalled: boolean;
  /** Whether helm may take fields that others have set. */
  readonly isForced: boolean;
}

const VALUES = 'values.yaml';

/** Runs helm once, stopped in the middle by a {@link RenderGate} in an empty `directory`. */
export async function runGated(
  context: DriverContext,
  run: GatedRun,
  {
    directory,
    values,
    decide,
    span,
  }: {
    readonly directory: string;
    readonly values: unknown;
    readonly decide: Decide;
    /** That of this run, which helm is passed. */
    readonly span: SpanContext | undefined;
  },
  signal: AbortSignal,
): Promise<HelmOutcome> {
  const gate = await openGate(context, directory, [], signal);
  return await gate.pass(async () => {
    const chartDir = await stageChart(run.module, run.chart, join(directory, 'chart'));
    await writeFile(join(directory, VALUES), canonicalJson(values), { mode: 0o600 });
    return await startHelm(context, run, { gate, chartDir, values: () => values, span }, signal);
  }, decide);
}

/**
 * The same for a helm whose values are still to come: it waits for them on a named pipe, which is passed to `onStart`.
 * Until it has read them it has read of the cluster only whether there is a release.
 */
export async function runAhead(
  context: DriverContext,
  run: GatedRun,
  { directory, decide, onStart, values, span }: Preparation & { readonly directory: string },
  signal: AbortSignal,
): Promise<HelmOutcome> {
  const gate = await openGate(context, directory, [VALUES], signal);
  return await gate.pass(async () => {
    const chartDir = await stageChart(run.module, run.chart, join(directory, 'chart'));
    onStart(join(directory, VALUES));
    return await startHelm(context, run, { gate, chartDir, values, span }, signal);
  }, decide);
}

/**
 * Equal for runs that one helm process does for the other. A helm that reads the directory of the module must not do so
 * after a file in it is no longer the one that the operator has read.
 */
export function gateKeyOf(context: DriverContext, run: GatedRun): string {
  return JSON.stringify([
    run.module.path,
    isUsedInPlace(run.module, run.chart),
    argumentsOf(context, run, { chartDir: '', directory: '', postRenderer: [] }),
  ]);
}

async function openGate(
  { runner, env }: DriverContext,
  directory: string,
  pipes: readonly string[],
  signal: AbortSignal,
): Promise<RenderGate> {
  return await RenderGate.open(directory, { runner, path: env['PATH'] ?? '', pipes }, signal);
}

async function startHelm(
  context: DriverContext,
  run: GatedRun,
  {
    gate,
    chartDir,
    values,
    span,
  }: Pick<Preparation, 'span' | 'values'> & { readonly gate: RenderGate; readonly chartDir: string },
  signal: AbortSignal,
): Promise<HelmOutcome> {
  const { helm, gateScript, timeoutMs } = context;
  const { directory } = gate;
  const postRenderer = gateScript.arguments(helm, directory);
  const args = argumentsOf(context, run, { chartDir, directory, postRenderer });
  const limits = { args, timeoutMs: processLimitMs(timeoutMs), span };
  // Read when helm has ended: one that was started ahead got its values later.
  const helmRun = {
    ...limits,
    get values() {
      return values();
    },
  };
  return await runHelm(context, helmRun, signal);
}

function argumentsOf(
  context: DriverContext,
  { module, inputDigest, lastRevision, isInstalled, isForced }: GatedRun,
  paths: { readonly chartDir: string; readonly directory: string; readonly postRenderer: readonly string[] },
): string[] {
  const { helm, namespace, kubeContext, historyMax, timeoutMs, holder, extraLabels } = context;
  return upgradeArguments(helm, {
    release: module.name,
    namespace,
    kubeContext,
    chartDir: paths.chartDir,
    valuesFile: join(paths.directory, VALUES),
    historyMax,
    timeoutMs,
    labels: labelsAtStart({
      revision: lastRevision + 1,
      inputDigest,
      holder: holder.token,
      isUnmanaged: UNMANAGED_LABEL in extraLabels,
      isInstalled,
    }),
    postRenderer: paths.postRenderer,
    isForced,
    isReplaced: isInstalled && lastRevision > 0,
  });
}
