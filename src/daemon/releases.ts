import type { HelmDriver } from '../helm/helm-driver.ts';
import type { Releases } from '../operator/releases.ts';

/** The helm driver as the operator uses it. */
export function releasesOf(driver: HelmDriver): Releases {
  return {
    deploy: async (module, values, options, signal) => {
      const { drift, conflicts } = module.manifest;
      const request = { module, values, ...options, drift, conflicts };
      const { revision, digest } = await driver.deploy(request, signal);
      return { revision, digest };
    },
    forgetReads: () => driver.forgetReads(),
    exists: (name, signal) => driver.exists(name, signal),
    revision: (name, signal) => driver.revision(name, signal),
    uninstall: (name, options, signal) => driver.uninstall(name, signal, options),
    keep: (name, isKept, signal) => driver.keep(name, isKept, signal),
    disown: (name, signal) => driver.disown(name, signal),
    unlock: (name, signal) => driver.unlock(name, signal),
    list: (signal) => driver.listReleases(signal),
    pauseMonitor: (module) => driver.monitors.pause(module),
    drift: (module) => driver.monitors.drift(module),
    recheckDrift: () => driver.monitors.recheckDrift(),
    stopMonitor: (module) => driver.monitors.stop(module),
    onGlobalChange: () => driver.onGlobalChange(),
  };
}
