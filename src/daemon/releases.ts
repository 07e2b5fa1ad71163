import type { HelmDriver } from '../helm/helm-driver.ts';
import type { Logger } from '../lib/log.ts';
import type { Releases } from '../operator/releases.ts';

/** The helm driver as the operator uses it. */
export function releasesOf(driver: HelmDriver, log: Logger): Releases {
  return {
    async deploy(module, values, signal) {
      log.debug({ release: module.name }, 'comparing helm release with its chart');
      const { action, reason, revision } = await driver.deploy({ module, values }, signal);
      const fields = { release: module.name, revision, reason };
      if (action === 'skipped') log.debug(fields, 'helm release is up to date');
      else log.info({ ...fields, action }, 'Helm upgrade successful');
    },
    exists: (name, signal) => driver.exists(name, signal),
    async uninstall(name, signal) {
      await driver.uninstall(name, signal);
    },
    list: (signal) => driver.listReleases(signal),
    pauseMonitor: (module) => driver.monitors.pause(module),
    stopMonitor: (module) => driver.monitors.stop(module),
  };
}
