import type { CommandScenario } from './command-scenario.ts';
import { authorizationTour } from './tours/authorization.ts';
import { clusterTour, planTour } from './tours/cluster.ts';
import { enabledScriptTour } from './tours/enabled-script.ts';
import { hookDoesNotRunTour } from './tours/hook-does-not-run.ts';
import { exampleTour, firstStepsTour, firstTestTour, starterTour } from './tours/sandboxes.ts';
import { tutorialTour } from './tours/tutorial.ts';

/** All commands of the pages for users that can be run in a test. */
export const COMMAND_SCENARIOS: readonly CommandScenario[] = [
  starterTour,
  firstStepsTour,
  exampleTour,
  firstTestTour,
  clusterTour,
  planTour,
  enabledScriptTour,
  authorizationTour,
  tutorialTour,
  hookDoesNotRunTour,
];
