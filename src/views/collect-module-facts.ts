import { codeOf, messageOf } from '@addon-operator/base/errors';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { type PlacesByModule, placesByModule } from '../model/module-places.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleExplanation } from '../status/module-explanation.ts';
import type { ModuleFacts } from '../status/module-facts.ts';
import { type CommonObstacles, commonObstacles, moduleProgress } from './collect-obstacles.ts';
import { explainModule, heldExplanations } from './explain-module.ts';
import type { Explained } from './explained.ts';

/**
 * The facts of all Module objects, in run order. Sends no request, since it is called for every
 * change of a task.
 */
export function moduleFacts(operator: Explained): readonly ModuleFacts[] {
  // Read once for all modules: reading the queues for each of them takes quadratic time.
  const queued = placesByModule(operator);
  const common = commonObstacles(operator);
  const known = operator.registry.modules.map((module) => factsOrProblem(operator, module, queued, common));
  return [...known, ...heldExplanations(operator, []).map(heldFacts)];
}

/** The facts of one module; undefined for an unknown name. */
export function factsOfModule(operator: Explained, name: string): ModuleFacts | undefined {
  const module = operator.registry.find(name);
  if (module !== undefined)
    return factsOrProblem(operator, module, placesByModule(operator), commonObstacles(operator));
  const held = heldExplanations(operator, []).find((other) => other.module === name);
  return held && heldFacts(held);
}

function factsOrProblem(
  operator: Explained,
  module: Module,
  queued: PlacesByModule,
  common: CommonObstacles,
): ModuleFacts {
  try {
    return factsOf(operator, module, queued, common);
  } catch (error) {
    // A module that cannot be described must not hide the status of all others.
    return unreadableFacts(operator, module, error);
  }
}

/** The facts of a module that is known only by its held release: no part of it runs. */
function heldFacts({ release: _release, ...explanation }: ModuleExplanation): ModuleFacts {
  return {
    explanation,
    release: undefined,
    isDeployed: false,
    progress: 'none',
    reconciledAtMs: undefined,
    hookRuns: [],
  };
}

function factsOf(
  operator: Explained,
  module: Module,
  queued: PlacesByModule,
  common: CommonObstacles,
): ModuleFacts {
  const { release: _release, ...explanation } = explainModule(operator, module, [], queued, common);
  const tracked = operator.registry.tracked.get(module.name);
  return {
    explanation,
    release: tracked?.release.deployed,
    isDeployed: tracked?.isDeployed === true,
    progress: moduleProgress(operator, module.name, queued.get(module.name) ?? []),
    reconciledAtMs: tracked?.history.reconcileStartedMs,
    hookRuns: tracked?.history.hookRuns ?? [],
  };
}

// All fields are filled: clients read them without checks.
function unreadableFacts(operator: Explained, { name, order, path }: Module, cause: unknown): ModuleFacts {
  const error = `The state of the module cannot be described, please report this: ${messageOf(cause)}`;
  return {
    explanation: {
      module: name,
      status: 'failing',
      since: isoTime(operator.statusTimes.since(name, 'failing', () => operator.clock.wallMs())),
      isEnabled: operator.registry.isEnabled(name),
      source: null,
      reason: error,
      position: {
        place: operator.registry.modules.findIndex((other) => other.name === name) + 1,
        of: operator.registry.modules.length,
        order,
      },
      path,
      version: null,
      deletionPolicy: 'delete',
      requires: [],
      phase: 'Failed',
      step: 'not started',
      waitsFor: [],
      causes: [
        {
          node: 'found',
          reason: 'RunFailed',
          text: error,
          until: null,
          isStalled: true,
          ref: `module/${name}`,
          remedy: 'report this',
        },
      ],
      failure: {
        error,
        code: codeOf(cause) ?? 'INTERNAL',
        attempts: 1,
        nextAttemptAt: null,
        isGivenUp: false,
      },
      lastRun: null,
      nextReconcileAt: null,
      pause: null,
      drift: null,
    },
    release: undefined,
    isDeployed: false,
    progress: 'none',
    reconciledAtMs: undefined,
    hookRuns: [],
  };
}
