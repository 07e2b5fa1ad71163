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

/** What is to be deployed, as far as it is known without helm. */
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
    inputDigest: await knownDigest(context, module, await digestOf(files), async () => {
      const all = readAllFiles(module, kind);
      return all && (await digestOf(all));
    }),
    isOpen: steps?.isOpen === true,
    isForced,
  };
}

/** The digest; or that of all files of the module, if what is deployed has that one: then nothing has changed. */
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

/** Everything that determines what a chart renders to. */
export interface RenderInputs {
  readonly release: string;
  readonly namespace: string;
  /** Version of helm: another one may render the same template to another text. */
  readonly helmVersion: string;
  readonly files: readonly ChartFile[];
  /** Those that the chart can read, see {@link readableValues}. */
  readonly values: unknown;
  readonly extraLabels: Readonly<Record<string, string>>;
  /** What the chart can read of the cluster's capabilities; empty for a chart that does not read them. */
  readonly capabilities: readonly string[];
  /** Of what changes the rendering afterwards; empty, also by default, when nothing does. */
  readonly stepsDigest?: string;
}

/** Changed when digests are computed differently; every release is then rendered and compared once. */
const DIGEST_VERSION = '1';
/** 160 bits in hex: a label value holds 63 characters. */
const DIGEST_LENGTH = 40;

/** A digest fit for a label value; equal inputs have equal digests. */
export function inputDigest(inputs: RenderInputs): string {
  const hash = createHash('sha256');
  const { files, stepsDigest = '', ...rest } = inputs;
  hash.update(canonicalJson([DIGEST_VERSION, rest, ...(stepsDigest === '' ? [] : [stepsDigest])]));
  for (const file of files) {
    // Lengths keep the border between a path, its content and the next path.
    hash.update(`\n${file.path.length}:${file.path}:${file.content.length}:`);
    hash.update(file.content);
  }
  return hash.digest('hex').slice(0, DIGEST_LENGTH);
}

/** What the chart of these files uses besides its files and values. Values count where `tpl` makes templates of them. */
export function traitsOf(files: readonly ChartFile[], values: unknown): ChartTraits {
  const texts = files.map(chartText);
  const usesTpl = texts.some((text) => /\btpl\b/.test(text));
  return chartTraits(usesTpl ? [...texts, canonicalJson(values)] : texts);
}

/** The values that the chart of these files can read: without `global` where it cannot read that. */
export function readableValues(files: readonly ChartFile[], values: unknown): unknown {
  if (!isObject(values) || mayUseGlobals(files.map((file) => ({ path: file.path, text: chartText(file) }))))
    return values;
  const { global: _global, ...others } = values;
  return others;
}

/** Where global values may be read: templates, and what decides about subcharts or checks values. */
const READERS =
  /(^|\/)(templates\/.*|Chart\.yaml|requirements\.yaml|values\.yaml|values\.schema\.json)$|\.tgz$/;
/** `.Values` in any form but that of one named field; methods of the Go type that hand out everything. */
const ALL_VALUES = /(?<!\.)Values|Values(?!\.[A-Za-z_])|Values\.(AsMap|Encode|PathValue|Table|YAML)\b/;
/** Names the global values, or evaluates texts that are not known before it runs. */
const OTHER_WAYS = /global|\btpl\b|Subcharts/i;
const ACTION = /\{\{[\s\S]*?\}\}/g;
const COMMENT = /^\{\{-?\s*\/\*/;
const STRING = /"(?:\\.|[^"\\])*"|`[^`]*`/g;
/** Hands the context on to a named template, whose own text is looked at as well. */
const INCLUDE = /\b(?:include|template)\s+(?:""|\([^()]*\))\s+[.$](?=[\s)|}])/g;
/** `.` or `$` by itself, which may be the whole context: who prints it prints all values. */
const WHOLE_CONTEXT = /(?<![\w.$])\.(?![\w.])|\$(?!\w|\.[A-Za-z])/;

/** One file of a chart as text. */
interface ChartText {
  readonly path: string;
  readonly text: string;
}

/**
 * Whether what a chart renders to may depend on global values. Only a chart that plainly takes single fields of
 * `.Values`, and never the whole of them or of its context, cannot; in any doubt the result is true.
 */
export function mayUseGlobals(files: readonly ChartText[]): boolean {
  return files.some(({ path, text }) => {
    if (!READERS.test(path)) return false;
    return OTHER_WAYS.test(text) || ALL_VALUES.test(text) || hasWholeContext(text);
  });
}

function hasWholeContext(text: string): boolean {
  for (const [action] of text.matchAll(ACTION)) {
    if (COMMENT.test(action)) continue;
    if (WHOLE_CONTEXT.test(action.replaceAll(STRING, '""').replaceAll(INCLUDE, ''))) return true;
  }
  return false;
}
