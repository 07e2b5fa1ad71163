import type { Backend } from '../../support/world.ts';
import { startupGlobalTests } from './001-startup-global.ts';
import { startupGlobalHighAvailabilityTests } from './002-startup-global-high-availability.ts';
import { monitorPodsTests } from './101-monitor-pods.ts';
import { monitorNamespacesTests } from './102-monitor-namespaces.ts';
import { scheduleTests } from './103-schedule.ts';
import { secretCopierTests } from './104-secret-copier.ts';
import { crdSimpleTests } from './105-crd-simple.ts';
import { monitorEventsTests } from './106-monitor-events.ts';
import { advancedTests } from './200-advanced.ts';
import { installWithHelmChartTests } from './201-install-with-helm-chart.ts';
import { moduleSymlinksTests } from './202-module-symlinks.ts';
import { executionRateTests } from './220-execution-rate.ts';
import { configMapPythonTests } from './230-configmap-python.ts';
import { platformTests } from './300-platform.ts';
import { typescriptHookTests } from './700-typescript-hook.ts';
import { startupHooksTests } from './startup-hooks.ts';
import { sysctlTunerTests } from './sysctl-tuner.ts';

/** The examples of the catalogue that show a binding, on one API server. Each backend runs all of them. */
export function catalogueBindingTests(backend: () => Backend): void {
  startupGlobalTests(backend);
  startupGlobalHighAvailabilityTests(backend);
  startupHooksTests(backend);
  monitorPodsTests(backend);
  monitorNamespacesTests(backend);
  scheduleTests(backend);
  secretCopierTests(backend);
  monitorEventsTests(backend);
}

/**
 * The others, which combine bindings or show modules and languages, and all that define the kind CronTab: the two groups may
 * run at the same time.
 */
export function catalogueApplicationTests(backend: () => Backend): void {
  crdSimpleTests(backend);
  advancedTests(backend);
  installWithHelmChartTests(backend);
  moduleSymlinksTests(backend);
  executionRateTests(backend);
  configMapPythonTests(backend);
  platformTests(backend);
  typescriptHookTests(backend);
  sysctlTunerTests(backend);
}
