import type { Backend } from '../support/world.ts';
import { badInputTests } from './bad-input.ts';
import { bindingContextTests } from './binding-contexts.ts';
import { configMapTests } from './config-map.ts';
import { crdTests } from './crds.ts';
import { dependencyTests } from './dependencies.ts';
import { discoveryTests } from './discovery.ts';
import { exactNumberTests } from './exact-numbers.ts';
import { executionLimitTests } from './execution-limits.ts';
import { failingFilterTests } from './failing-filters.ts';
import { hookProcessTests } from './hook-processes.ts';
import { isolationTests } from './isolation.ts';
import { mainLoopTests } from './main-loop.ts';
import { metricsFromHooksTests } from './metrics-from-hooks.ts';
import { moduleLifecycleTests } from './module-lifecycle.ts';
import { oldHookTests } from './old-hooks.ts';
import { planTests } from './plan.ts';
import { queueTests } from './queues.ts';
import { scheduleTests } from './schedules.ts';
import { schemaTests } from './schemas.ts';
import { startUpTests } from './start-up.ts';
import { valuesTests } from './values.ts';

/** Every behaviour of the lifecycle, on one API server. Each backend runs all of them. */
export function lifecycleTests(backend: () => Backend): void {
  startUpTests(backend);
  discoveryTests(backend);
  dependencyTests(backend);
  isolationTests(backend);
  moduleLifecycleTests(backend);
  crdTests(backend);
  mainLoopTests(backend);
  queueTests(backend);
  planTests(backend);
  badInputTests(backend);
  executionLimitTests(backend);
  metricsFromHooksTests(backend);
  oldHookTests(backend);
  valuesTests(backend);
  schemaTests(backend);
  configMapTests(backend);
  bindingContextTests(backend);
  hookProcessTests(backend);
  exactNumberTests(backend);
  failingFilterTests(backend);
  scheduleTests(backend);
}
