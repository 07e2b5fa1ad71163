import { readFile } from 'node:fs/promises';
import { hasCode } from '@addon-operator/base/errors';
import { parseCrdFile } from '@addon-operator/kube-client/crd';
import type { DeployRequest } from '../releases/deploy.ts';
import { type KindKey, kindOfCrd, type RefusedObject } from '../releases/dry-run.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import { findCrdFiles } from './crds/crds-of-modules.ts';

export interface PreflightParts {
  readonly helm: Pick<HelmDriver, 'dryRun'>;
  /** Names of files below `crds/` that begin with one of them are no CRDs. */
  readonly crdFilterPrefixes: readonly string[];
}

/**
 * Renders new content of a module and has the API server judge each object by a dry run, before the
 * content is switched to. Several objects that only together exceed a quota are not noticed.
 *
 * @param request the module with the directory of the new content, and its values for helm
 * @returns the objects that would be refused; the chart itself if it does not render
 * @throws OperatorError MODULE_INVALID when the directory cannot be read; `signal.reason` on abort
 */
export async function preflight(
  { helm, crdFilterPrefixes }: PreflightParts,
  request: DeployRequest,
  signal: AbortSignal,
): Promise<readonly RefusedObject[]> {
  const brought = new Set<KindKey>();
  for (const path of await findCrdFiles(request.module.path, crdFilterPrefixes))
    for (const { spec } of parseCrdFile(await readFile(path, 'utf8'), path).crds)
      brought.add(kindOfCrd(spec));
  try {
    return await helm.dryRun(request, brought, signal);
  } catch (error) {
    if (!hasCode(error, 'HELM_FAILED')) throw error;
    return [{ object: 'chart', reason: error.message }];
  }
}
