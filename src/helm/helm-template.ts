import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TemplateArguments, templateArguments } from '@addon-operator/helm/helm-arguments';
import { type HelmOutcome, runHelm } from '@addon-operator/helm/helm-process';
import { canonicalJson } from '@addon-operator/json';
import { type DriverContext, processLimitMs } from './driver-context.ts';

/** More of a rendering is cut off. */
export const MAX_RENDERED_BYTES = 64 * 1024 * 1024;

interface TemplateChart {
  readonly release: string;
  readonly chartDir: string;
  readonly values: unknown;
  /** That of this run; the values are written into it. */
  readonly directory: string;
}

/** Runs `helm template` with the capabilities of the cluster; the rendering is what it writes to stdout. */
export async function runTemplate(
  context: DriverContext,
  { release, chartDir, values, directory }: TemplateChart,
  options: Pick<TemplateArguments, 'hasHooks' | 'isDebug' | 'readsCluster'>,
  signal: AbortSignal,
): Promise<HelmOutcome> {
  const { discovery, namespace, kubeContext, timeoutMs } = context;
  const { gitVersion: kubeVersion } = await discovery.serverVersion(signal);
  const apiVersions = await discovery.apiVersions(signal);
  const valuesFile = join(directory, 'values.yaml');
  await writeFile(valuesFile, canonicalJson(values), { mode: 0o600 });
  const args = templateArguments({
    release,
    namespace,
    kubeContext,
    chartDir,
    valuesFile,
    kubeVersion,
    apiVersions,
    ...options,
  });
  const run = {
    args,
    timeoutMs: processLimitMs(timeoutMs),
    captureStdoutBytes: MAX_RENDERED_BYTES,
    values,
  };
  return await runHelm(context, run, signal);
}
