import { OperatorError } from '../lib/errors.ts';
import type { ChartTraits } from './chart-functions.ts';
import { type ChartKind, chartKind, readChartFiles } from './chart-source.ts';
import type { ChartModule, DriverContext } from './driver-context.ts';
import { inputDigest, readableValues, traitsOf } from './input-digest.ts';
import type { DesiredRelease } from './release-action.ts';
import type { ReleaseSteps } from './release-steps.ts';

/** What is to be deployed, as far as it is known without helm. */
export interface ChartState {
  readonly kind: ChartKind;
  readonly traits: ChartTraits;
  readonly inputDigest: string;
  readonly isOpen: boolean;
  readonly isForced: boolean;
}

export interface ChartInputs {
  readonly module: ChartModule;
  readonly values: Readonly<Record<string, unknown>>;
  readonly steps?: ReleaseSteps | undefined;
  /** Default false. */
  readonly isForced?: boolean;
}

/** Reads the chart of a module. @throws OperatorError MODULE_INVALID when the module is no chart */
export async function readChartState(
  context: DriverContext,
  { module, values, steps, isForced = false }: ChartInputs,
  signal: AbortSignal,
): Promise<ChartState> {
  const kind = chartKind(module.path);
  if (kind === undefined) {
    throw new OperatorError(
      'MODULE_INVALID',
      `Module "${module.name}" is no chart: it has neither Chart.yaml nor templates/`,
    );
  }
  const files = readChartFiles(module, kind);
  const traits = traitsOf(files, values);
  const digest = inputDigest({
    release: module.name,
    namespace: context.namespace,
    helmVersion: context.helm.version,
    files,
    values: readableValues(files, values),
    extraLabels: context.extraLabels,
    capabilities: traits.usesCapabilities ? await capabilities(context, signal) : [],
    stepsDigest: steps?.digest ?? '',
  });
  return { kind, traits, inputDigest: digest, isOpen: steps?.isOpen === true, isForced };
}

/** What a release should be now by its chart. */
export function desiredRelease(
  context: DriverContext,
  { inputDigest: digest, traits, isOpen, isForced }: ChartState,
): DesiredRelease {
  return {
    inputDigest: digest,
    readsOutside: traits.outsideFunctions.length > 0,
    isOpen,
    isForced,
    helmTimeoutMs: context.timeoutMs,
  };
}

async function capabilities({ discovery }: DriverContext, signal: AbortSignal): Promise<readonly string[]> {
  const { gitVersion } = await discovery.serverVersion(signal);
  return [gitVersion, ...(await discovery.apiVersions(signal))];
}
