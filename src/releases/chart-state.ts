import { createHash } from 'node:crypto';
import { OperatorError } from '@addon-operator/base/errors';
import { type ChartTraits, chartTraits } from '@addon-operator/helm/chart-functions';
import {
  type ChartContents,
  type ChartFile,
  chartKind,
  chartText,
  readAllFiles,
  readChart,
} from '@addon-operator/helm/chart-source';
import { ownFacts } from '@addon-operator/helm/record-metadata';
import { canonicalJson, isObject } from '@addon-operator/json';
import type { ChartModule, DriverContext } from './driver-context.ts';
import type { DesiredRelease } from './release-action.ts';
import type { ReleaseSteps } from './release-steps.ts';

/** The desired state, as far as it is known without helm. */
export interface ChartState {
  readonly contents: ChartContents;
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
  const { files, contents } = readChart(module, kind, values);
  const digestOf = async (chartFiles: readonly ChartFile[]): Promise<string> =>
    inputDigest({
      release: module.name,
      namespace: context.namespace,
      helmVersion: context.helm.version,
      files: chartFiles,
      values: readableValues(chartFiles, values),
      extraLabels: context.extraLabels,
      capabilities: traitsOf(chartFiles, values).usesCapabilities ? await capabilities(context, signal) : [],
      stepsDigest: steps?.digest ?? '',
    });
  return {
    contents,
    traits: traitsOf(files, values),
    // All files are read only if the deployed revision has another digest.
    inputDigest: await knownDigest(context, module, await digestOf(files), async () => {
      const all = readAllFiles(module, kind);
      return all && (await digestOf(all));
    }),
    isOpen: steps?.isOpen === true,
    isForced,
  };
}

/**
 * The digest; or that of all files of the module if the deployed revision has it, since then
 * nothing has changed.
 */
async function knownDigest(
  { store }: DriverContext,
  { name }: ChartModule,
  digest: string,
  ofAllFiles: () => Promise<string | undefined>,
): Promise<string> {
  const latest = store.known(name);
  const deployed = latest && ownFacts(latest.labels, latest.revision).inputDigest;
  if (deployed === undefined || deployed === digest) return digest;
  return (await ofAllFiles()) === deployed ? deployed : digest;
}

/** The desired state of a release according to its chart. */
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

/** Everything that determines the rendering of a chart. */
export interface RenderInputs {
  readonly release: string;
  readonly namespace: string;
  /** The version of helm: another one may render a template differently. */
  readonly helmVersion: string;
  readonly files: readonly ChartFile[];
  /** The values that the chart can read, see {@link readableValues}. */
  readonly values: unknown;
  readonly extraLabels: Readonly<Record<string, string>>;
  /** The cluster's capabilities that the chart can read; empty for a chart that reads none. */
  readonly capabilities: readonly string[];
  /** The digest of steps that change the rendering; empty, also by default, without any. */
  readonly stepsDigest?: string;
}

/**
 * Increased when the digest is computed differently; every release is then rendered and compared
 * once.
 */
const DIGEST_VERSION = '1';
/** 160 bits in hexadecimal: a label value holds 63 characters. */
const DIGEST_LENGTH = 40;

/** A digest that fits into a label value; equal inputs have equal digests. */
export function inputDigest(inputs: RenderInputs): string {
  const hash = createHash('sha256');
  const { files, stepsDigest = '', ...rest } = inputs;
  hash.update(canonicalJson([DIGEST_VERSION, rest, ...(stepsDigest === '' ? [] : [stepsDigest])]));
  for (const file of files) {
    // With lengths no path or content can be mistaken for the next file.
    hash.update(`\n${file.path.length}:${file.path}:${file.content.length}:`);
    hash.update(file.content);
  }
  return hash.digest('hex').slice(0, DIGEST_LENGTH);
}

/**
 * The traits of a chart: what it uses besides its files and values. Values count as templates if
 * the chart uses `tpl`.
 */
export function traitsOf(files: readonly ChartFile[], values: unknown): ChartTraits {
  const sources = files.map(chartText);
  const usesTpl = sources.some((source) => /\btpl\b/.test(source));
  return chartTraits(usesTpl ? [...sources, canonicalJson(values)] : sources);
}

/**
 * The values that the chart can read: without `global` if it cannot read that. Then a change of
 * global values does not render the chart again.
 */
export function readableValues(files: readonly ChartFile[], values: unknown): unknown {
  if (!isObject(values) || mayUseGlobals(files.map((file) => ({ path: file.path, text: chartText(file) }))))
    return values;
  const { global: _global, ...others } = values;
  return others;
}

/** Files that may read global values: templates, and files about subcharts or checks of values. */
const READERS =
  /(^|\/)(templates\/.*|Chart\.yaml|requirements\.yaml|values\.yaml|values\.schema\.json)$|\.tgz$/;
/**
 * `.Values` in any form but that of one named field; methods of the Go type that return everything.
 */
const ALL_VALUES = /(?<!\.)Values|Values(?!\.[A-Za-z_])|Values\.(AsMap|Encode|PathValue|Table|YAML)\b/;
/** Names the global values, or evaluates strings that are known only when it runs. */
const OTHER_WAYS = /global|\btpl\b|Subcharts/i;
const ACTION = /\{\{[\s\S]*?\}\}/g;
const COMMENT = /^\{\{-?\s*\/\*/;
const STRING = /"(?:\\.|[^"\\])*"|`[^`]*`/g;
/** Passes the context to a named template, whose own source is checked as well. */
const INCLUDE = /\b(?:include|template)\s+(?:""|\([^()]*\))\s+[.$](?=[\s)|}])/g;
/** `.` or `$` by itself, which may be the whole context: printing it prints all values. */
const WHOLE_CONTEXT = /(?<![\w.$])\.(?![\w.])|\$(?!\w|\.[A-Za-z])/;

/** The source of one chart file. */
interface ChartText {
  readonly path: string;
  readonly text: string;
}

/**
 * Whether the rendering of a chart may depend on global values. It is false only for a chart that
 * plainly reads single fields of `.Values`, never all of them or its context; in doubt the result
 * is true.
 */
export function mayUseGlobals(files: readonly ChartText[]): boolean {
  return files.some(({ path, text }) => {
    if (!READERS.test(path)) return false;
    return OTHER_WAYS.test(text) || ALL_VALUES.test(text) || hasWholeContext(text);
  });
}

function hasWholeContext(source: string): boolean {
  for (const [action] of source.matchAll(ACTION)) {
    if (COMMENT.test(action)) continue;
    if (WHOLE_CONTEXT.test(action.replaceAll(STRING, '""').replaceAll(INCLUDE, ''))) return true;
  }
  return false;
}
