import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Span } from '@addon-operator/base/trace';
import { type TemplateArguments, templateArguments } from '@addon-operator/helm/helm-arguments';
import { type HelmOutcome, runHelm } from '@addon-operator/helm/helm-process';
import { canonicalJson } from '@addon-operator/json';
import { type DriverContext, processLimitMs } from './driver-context.ts';
import { tracedHelm } from './helm-spans.ts';

/** The maximum size of a rendering in bytes; more is cut off. */
export const MAX_RENDERED_BYTES = 64 * 1024 * 1024;

interface TemplateChart {
  readonly release: string;
  readonly chartDir: string;
  readonly values: unknown;
  /** The directory of this run, into which the values are written. */
  readonly directory: string;
  /** Parent of the span of helm; default: nothing is traced. */
  readonly span?: Span | undefined;
}

/** Runs `helm template` with the capabilities of the cluster; the rendering is its stdout. */
export async function runTemplate(
  context: DriverContext,
  { release, chartDir, values, directory, span }: TemplateChart,
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
  return await tracedHelm({ parent: span, release }, 'template', (own) =>
    runHelm(context, { ...run, span: own }, signal),
  );
}
