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

/** The input of one `helm upgrade --install`, except the values. */
export interface GatedRun {
  readonly module: ChartModule;
  readonly chart: ChartContents;
  readonly inputDigest: string;
  /** Latest revision before this run; 0 without a release. */
  readonly lastRevision: number;
  /**
   * Whether helm installs, possibly over records of an uninstalled release or of failed installs;
   * else it upgrades.
   */
  readonly isInstalled: boolean;
  /** Whether helm may take fields that other managers have set. */
  readonly isForced: boolean;
}

const VALUES = 'values.yaml';

/**
 * Runs helm once, stopped between rendering and applying by a {@link RenderGate} in an empty
 * `directory`. The gate is helm's post-renderer: it sends the rendering here and blocks until
 * `decide` has answered.
 */
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
    /** The span of this run, which helm receives. */
    readonly span: SpanContext | undefined;
  },
  signal: AbortSignal,
): Promise<HelmOutcome> {
  const gate = await openGate(context, directory, [], signal);
  return await gate.pass(async () => {
    // Values may hold secrets, hence the mode.
    const chartDir = await stageChart(run.module, run.chart, join(directory, 'chart'));
    await writeFile(join(directory, VALUES), canonicalJson(values), { mode: 0o600 });
    return await startHelm(context, run, { gate, chartDir, values: () => values, span }, signal);
  }, decide);
}

/**
 * The same for a helm that is started before its values are known: it blocks on a named pipe, whose
 * path is passed to `onStart`. Before it reads the values it has only asked the cluster whether the
 * release exists.
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
 * Equal for runs that the same helm process can serve. A helm that reads the module's directory
 * itself is used only if the files are still those that the operator has read.
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
  // A getter, because a helm that was started ahead gets its values later.
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
