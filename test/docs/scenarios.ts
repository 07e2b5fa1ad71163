import type { Scenario } from './scenario.ts';
import { configScenario } from './scenarios/configurations.ts';
import { contextScenarios } from './scenarios/contexts.ts';
import { deployScenarios } from './scenarios/deploys.ts';
import { lifecycleScenario } from './scenarios/lifecycle-queues.ts';
import { logScenario } from './scenarios/log-lines.ts';
import { metricsScenario } from './scenarios/metrics.ts';
import { objectsScenario } from './scenarios/objects.ts';
import { oldHookScenario } from './scenarios/old-hooks.ts';
import { shellScenario } from './scenarios/shell.ts';
import { valuesScenario } from './scenarios/values.ts';
import { layersScenario, schemasScenario, secretReferenceScenario } from './scenarios/values-page.ts';
import { webhookScenarios } from './scenarios/webhooks.ts';

/** Everything that the samples of the pages stand for. */
export const SCENARIOS: readonly Scenario[] = [
  configScenario,
  ...contextScenarios,
  ...deployScenarios,
  objectsScenario,
  metricsScenario,
  valuesScenario,
  logScenario,
  shellScenario,
  oldHookScenario,
  ...webhookScenarios,
  lifecycleScenario,
  layersScenario,
  schemasScenario,
  secretReferenceScenario,
];
