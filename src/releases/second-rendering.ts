import { Buffer } from 'node:buffer';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { OperatorError } from '@addon-operator/base/errors';
import type { Span } from '@addon-operator/base/trace';
import { TAR_END, tarEntries, withContent } from '@addon-operator/files/tar';
import {
  type ChartContents,
  readChartFiles,
  stageChart,
  unpackChart,
} from '@addon-operator/helm/chart-source';
import { withRunDirectory } from '@addon-operator/helm/run-directory';
import { isObject } from '@addon-operator/json';
import type { ChartModule, DriverContext } from './driver-context.ts';
import { runTemplate } from './helm-template.ts';

interface SecondRendering {
  readonly module: ChartModule;
  readonly chart: ChartContents;
  readonly values: unknown;
  /** Parent of the span of helm; default: nothing is traced. */
  readonly span?: Span | undefined;
}

/**
 * Renders a chart once more with the same inputs, as an upgrade and with its reads of the cluster.
 * A difference to the first rendering is due to random numbers, the time or the revision, not to a
 * change.
 *
 * @throws OperatorError HELM_FAILED
 */
export async function renderAgain(
  context: DriverContext,
  { module, chart: contents, values, span }: SecondRendering,
  signal: AbortSignal,
): Promise<string> {
  return await withRunDirectory(context.workDir, async (directory) => {
    const chartDir = await stageOther(module, contents, join(directory, 'chart'));
    const chart = { release: module.name, chartDir, values: asOtherValues(values), directory, span };
    const outcome = await runTemplate(context, chart, { readsCluster: true }, signal);
    if (outcome.type === 'succeeded' && !outcome.isStdoutTruncated) return outcome.stdout;
    const error = outcome.type === 'failed' ? outcome.error : 'the result is too large';
    throw new OperatorError('HELM_FAILED', `Cannot render module "${module.name}" a second time: ${error}`);
  });
}

/**
 * Prepares the chart of {@link asOtherRendering}; the module's own directory if nothing differs.
 */
async function stageOther(module: ChartModule, contents: ChartContents, targetDir: string): Promise<string> {
  const files = readChartFiles(module, contents);
  const changed = files.flatMap(({ path, content }) => {
    const other = path.endsWith('.tgz') ? archiveAsOtherRendering(content) : fileAsOther(content);
    return other.equals(content) ? [] : [{ path, content: other }];
  });
  if (changed.length === 0) return await stageChart(module, contents, targetDir);
  if (contents.kind === 'templates') await stageChart(module, contents, targetDir);
  for (const { path, content } of contents.kind === 'templates' ? changed : [...files, ...changed]) {
    await mkdir(dirname(join(targetDir, path)), { recursive: true });
    await writeFile(join(targetDir, path), content, { mode: 0o600 });
  }
  return targetDir;
}

function fileAsOther(content: Buffer): Buffer {
  // In latin1 every byte is a character, so the content survives the conversion.
  return Buffer.from(asOtherRendering(content.toString('latin1')), 'latin1');
}

/**
 * A packed chart (`.tgz`) with the changes of {@link asOtherRendering}; the same archive if nothing
 * differs or it cannot be read.
 */
export function archiveAsOtherRendering(packed: Buffer): Buffer {
  try {
    const parts: Buffer[] = [];
    let isOther = false;
    for (const entry of tarEntries(unpackChart(packed))) {
      const content = entry.content.toString('latin1');
      const other = entry.isRegularFile ? asOtherRendering(content) : content;
      isOther ||= other !== content;
      parts.push(other === content ? entry.whole : withContent(entry, Buffer.from(other, 'latin1')));
    }
    return isOther ? gzipSync(Buffer.concat([...parts, TAR_END])) : packed;
  } catch {
    return packed;
  }
}

const ACTION = /\{\{[\s\S]*?\}\}/g;
/** A literal without an action in it, or a function name that is neither a field nor a variable. */
const TOKEN = /"(?:\\.|(?!\{\{)[^"\\\n])*"|`(?:(?!\{\{)[^`])*`|(?<![\w.$-])(?:now|ago|randInt)(?!\w)/g;

/**
 * Replacements for functions that may return the same result twice in a row. They contain no
 * quotes, since an action may be inside a literal.
 */
const STAND_INS: ReadonlyMap<string, string> = new Map([
  // Another year, month, day, weekday, hour, minute and second, so that every date format differs.
  ['now', '(((now).AddDate 1 1 4).Add 47843000000000)'],
  ['ago', 'kindOf'],
  // The upper bound, which the function itself never returns.
  ['randInt', 'max'],
]);

/**
 * The template as it would render at another time: dates differ even without the time of day, and
 * small random numbers differ for certain.
 */
export function asOtherRendering(template: string): string {
  return template.replace(ACTION, (action) =>
    action.replace(TOKEN, (token) => STAND_INS.get(token) ?? token),
  );
}

/** The same for every string in the values, which a chart may use as a template (`tpl`). */
export function asOtherValues(values: unknown): unknown {
  if (typeof values === 'string') return asOtherRendering(values);
  if (Array.isArray(values)) return values.map(asOtherValues);
  if (!isObject(values)) return values;
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, asOtherValues(value)]));
}
