import { parseHelmYaml } from '@addon-operator/yaml';
import { onlyReleaseOf } from '../model/lone-module.ts';
import { type Releases, releasesOf } from '../model/releases.ts';
import { type HelmReportsParts, helmReports } from '../reconcile/helm-reports.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import { startHelm } from '../releases/start-helm.ts';
import type { BuildOptions } from './build-options.ts';

/**
 * Starts the helm driver. Its reports (missing objects, unexpected releases) queue runs of modules.
 * A lone module sees only its own release.
 */
export async function startReleases(
  {
    settings,
    host,
    base,
    variant,
    running,
  }: Pick<BuildOptions, 'settings' | 'host' | 'base' | 'variant' | 'running'>,
  reports: HelmReportsParts,
): Promise<{ readonly helm: HelmDriver; readonly releases: Releases }> {
  const { cluster, helmBinary, runner, reflectors, tmpDir } = base;
  const helm = await startHelm(
    { settings, host, cluster, helmBinary, runner, reflectors, tmpDir, running },
    parseHelmYaml,
    helmReports(reports),
  );
  const lone = variant?.lone;
  const releases = releasesOf(helm, settings.crdFilterPrefixes);
  return { helm, releases: lone === undefined ? releases : onlyReleaseOf(lone, releases) };
}
