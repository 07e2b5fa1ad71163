import { Buffer } from 'node:buffer';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../lib/errors.ts';
import { type ChartKind, readChartFiles, stageChart } from './chart-source.ts';
import type { ChartModule, DriverContext } from './driver-context.ts';
import { runTemplate } from './helm-template.ts';
import { archiveAsOtherRendering } from './other-archive.ts';
import { asOtherRendering, asOtherValues } from './other-rendering.ts';
import { withRunDirectory } from './run-directory.ts';

export interface SecondRendering {
  readonly module: ChartModule;
  readonly chartKind: ChartKind;
  readonly values: unknown;
}

/**
 * Renders a chart once more with the same inputs, what it reads from the cluster included, as an upgrade: where the
 * result differs from another such rendering, chance, the time or the number of the revision has decided.
 *
 * @throws OperatorError HELM_FAILED
 */
export async function renderAgain(
  context: DriverContext,
  { module, chartKind, values }: SecondRendering,
  signal: AbortSignal,
): Promise<string> {
  return await withRunDirectory(context.workDir, async (directory) => {
    const chartDir = await stageOther(module, chartKind, join(directory, 'chart'));
    const chart = { release: module.name, chartDir, values: asOtherValues(values), directory };
    const outcome = await runTemplate(context, chart, { readsCluster: true }, signal);
    if (outcome.type === 'succeeded' && !outcome.isStdoutTruncated) return outcome.stdout;
    const error = outcome.type === 'failed' ? outcome.error : 'the result is too large';
    throw new OperatorError('HELM_FAILED', `Cannot render module "${module.name}" a second time: ${error}`);
  });
}

/** The chart of {@link asOtherRendering}; the module's own directory where that is the same. */
async function stageOther(module: ChartModule, kind: ChartKind, targetDir: string): Promise<string> {
  const files = readChartFiles(module, kind);
  const changed = files.flatMap(({ path, content }) => {
    const other = path.endsWith('.tgz') ? archiveAsOtherRendering(content) : fileAsOther(content);
    return other.equals(content) ? [] : [{ path, content: other }];
  });
  if (changed.length === 0) return await stageChart(module, kind, targetDir);
  if (kind === 'templates') await stageChart(module, kind, targetDir);
  for (const { path, content } of kind === 'templates' ? changed : [...files, ...changed]) {
    await mkdir(dirname(join(targetDir, path)), { recursive: true });
    await writeFile(join(targetDir, path), content, { mode: 0o600 });
  }
  return targetDir;
}

function fileAsOther(content: Buffer): Buffer {
  // Any byte is a character of this encoding.
  return Buffer.from(asOtherRendering(content.toString('latin1')), 'latin1');
}
