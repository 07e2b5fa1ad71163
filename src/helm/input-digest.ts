import { createHash } from 'node:crypto';
import { canonicalJson, isObject } from '../lib/json.ts';
import { type ChartTraits, chartTraits } from './chart-functions.ts';
import type { ChartFile } from './chart-source.ts';
import { mayUseGlobals } from './global-use.ts';
import { unpackChart } from './packed-chart.ts';

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
  /** What the chart can ask about the cluster; empty for a chart that does not ask. */
  readonly capabilities: readonly string[];
  /** Of what changes the rendering afterwards; empty, also by default, when nothing does. */
  readonly stepsDigest?: string;
}

/** Changes when digests are taken in another way; every release is then rendered and compared once. */
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
  const texts = files.map(textOf);
  const usesTpl = texts.some((text) => /\btpl\b/.test(text));
  return chartTraits(usesTpl ? [...texts, canonicalJson(values)] : texts);
}

/** The values that the chart of these files can read: without `global` where it cannot read that. */
export function readableValues(files: readonly ChartFile[], values: unknown): unknown {
  if (!isObject(values) || mayUseGlobals(files.map((file) => ({ path: file.path, text: textOf(file) }))))
    return values;
  const { global: _global, ...others } = values;
  return others;
}

function textOf({ path, content }: ChartFile): string {
  if (!path.endsWith('.tgz')) return content.toString('latin1');
  try {
    return unpackChart(content).toString('latin1');
  } catch {
    // helm will say what is wrong with the archive; until then nothing is known of the chart.
    return '{{ lookup }}';
  }
}
