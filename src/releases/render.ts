import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { chartKind, readChart, stageChart } from '@addon-operator/helm/chart-source';
import { addLabels } from '@addon-operator/helm/extra-labels';
import { withRunDirectory } from '@addon-operator/helm/run-directory';
import { transformManifest } from '@addon-operator/helm/transform-manifest';
import type { DeployRequest } from './deploy.ts';
import type { DriverContext } from './driver-context.ts';
import { MAX_RENDERED_BYTES, runTemplate } from './helm-template.ts';
import type { ReleaseSteps } from './release-steps.ts';

export interface RenderOptions {
  /** Whether manifests of helm hooks are included; default false. */
  readonly hasHooks?: boolean;
  /** Whether invalid YAML is returned too, with the error below it as a comment; default false. */
  readonly isDebug?: boolean;
}

/**
 * Renders a module's chart as an upgrade, with extra labels and the changes of steps that are
 * certain, with the capabilities of the cluster but without reading objects (`lookup` returns
 * nothing). Changes nothing.
 *
 * @throws OperatorError HELM_FAILED with helm's error, MODULE_INVALID when the module is no chart
 */
export async function renderModule(
  context: DriverContext,
  { module, values, steps }: DeployRequest,
  signal: AbortSignal,
  { hasHooks = false, isDebug = false }: RenderOptions = {},
): Promise<string> {
  const kind = chartKind(module.path);
  if (kind === undefined) {
    throw new OperatorError(
      'MODULE_INVALID',
      `Cannot render module "${module.name}": it has neither Chart.yaml nor templates/`,
    );
  }
  const { workDir, extraLabels } = context;
  const { contents } = readChart(module, kind, values);
  return await withRunDirectory(workDir, async (directory) => {
    const chartDir = await stageChart(module, contents, join(directory, 'chart'));
    const chart = { release: module.name, chartDir, values, directory };
    const outcome = await runTemplate(context, chart, { hasHooks, isDebug }, signal);
    if (outcome.type === 'failed') {
      if (isDebug && outcome.stdout !== '') return withError(outcome.stdout, outcome.error);
      throw new OperatorError('HELM_FAILED', `Cannot render module "${module.name}": ${outcome.error}`);
    }
    if (outcome.isStdoutTruncated) {
      throw new OperatorError(
        'HELM_FAILED',
        `Cannot render module "${module.name}": it renders to more than ${MAX_RENDERED_BYTES} bytes`,
      );
    }
    return addLabels(await transformed(context, outcome.stdout, steps, signal), extraLabels).text;
  });
}

/** Applies the steps. Open steps have effects, so only their preview is applied. */
async function transformed(
  { readYaml }: DriverContext,
  rendered: string,
  steps: ReleaseSteps | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (steps === undefined || steps.ignoresObjects === true) return rendered;
  return await transformManifest(rendered, readYaml, async (objects) => {
    if (!steps.isOpen) return await steps.transform(objects, signal);
    return (await steps.preview?.(objects, signal)) ?? objects;
  });
}

function withError(manifest: string, error: string): string {
  const comment = error.split('\n').map((line) => `# ${line}\n`);
  return `${manifest.replace(/\n?$/, '\n')}# Error:\n${comment.join('')}`;
}
