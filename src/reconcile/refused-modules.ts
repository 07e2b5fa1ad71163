import { hasCode, messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { moduleOf, type Task } from '../model/tasks.ts';
import type { Module } from '../modules/module.ts';
import { REFUSED_MESSAGES, SKIPPED_MESSAGES } from '../modules/refusal.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { ReleaseSteps } from '../releases/release-steps.ts';
import { type DeployHooks, deployedModule } from './deploy-hooks.ts';
import type { LifecycleRun } from './module-lifecycle.ts';
import type { Authorization } from './verify-module.ts';

/** What the functions here use of the operator. */
export interface RefusedModulesParts {
  readonly registry: ModuleRegistry;
  readonly log: Logger;
  /** Undefined when every module may run. */
  readonly authorization: Authorization | undefined;
  readonly deployHooks: Pick<DeployHooks, 'notifyOfRefusal' | 'queueUnauthorized'>;
  readonly metrics: Pick<OperatorMetrics, 'modulesDiscoverError'>;
  readonly router: Pick<TaskRouter, 'failedScripts'>;
}

/**
 * Skips every task of a module that is not to be run, also its deletion; while its enabled script fails, hooks that it has started
 * go on. Returns whether the task is skipped. The stage
 * `authorize` of the pipeline.
 */
export function skipIfRefused(
  { authorization, registry, log }: Pick<RefusedModulesParts, 'authorization' | 'registry' | 'log'>,
  task: Task,
): boolean {
  const name = moduleOf(task);
  const refusal = registry.holdOf(name);
  // What has started before goes on.
  if (refusal?.type === 'undecided' && task.type === 'ModuleHookRun') return false;
  if (refusal === undefined || (refusal.type === 'unauthorized' && authorization === undefined)) return false;
  log.info({ module: name, task: task.type, reason: refusal.reason }, SKIPPED_MESSAGES[refusal.type]);
  return true;
}

/** What follows for modules that are not to be run. */
export class RefusedModules {
  readonly #parts: RefusedModulesParts;

  constructor(parts: RefusedModulesParts) {
    this.#parts = parts;
  }

  /**
   * To be called after each discovery. Reports modules that it wants to run and that are refused, each once for each reason, and has
   * failed scripts run again.
   */
  report(): void {
    const { authorization, deployHooks, log, metrics, registry, router } = this.#parts;
    const undecided = [...(registry.discovery?.undecided?.keys() ?? [])];
    if (undecided.length > 0) metrics.modulesDiscoverError();
    router.failedScripts.note(undecided);
    const before = registry.refusals;
    const refused = registry.modules.flatMap((module) => {
      const refusal = registry.holdOf(module.name);
      return refusal !== undefined && registry.isHeldBack(module.name) ? [{ module, refusal }] : [];
    });
    registry.setRefusals(new Map(refused.map(({ module, refusal }) => [module.name, refusal.reason])));
    for (const { module, refusal } of refused) {
      const { type, reason } = refusal;
      if (before.get(module.name) === reason) continue;
      const remedy = type === 'unauthorized' ? {} : { fix: refusal.remedy };
      log.error({ module: module.name, reason, ...remedy }, REFUSED_MESSAGES[type]);
      if (type !== 'unauthorized' || authorization === undefined) continue;
      const { policy } = authorization;
      deployHooks.queueUnauthorized(deployedModule(module), { place: 'manifest', policy, reason });
    }
  }

  /** Checks a module again when it is about to be deployed; undefined when every module may run. */
  verificationSteps(module: Module, run: LifecycleRun): ReleaseSteps | undefined {
    const { authorization, deployHooks } = this.#parts;
    if (authorization === undefined) return undefined;
    return {
      digest: '',
      isOpen: false,
      ignoresObjects: true,
      transform: (objects) => Promise.resolve(objects),
      beforeApply: async (_objects, signal) => {
        try {
          await authorization.verify(module, signal);
        } catch (error) {
          if (hasCode(error, 'MODULE_UNAUTHORIZED')) {
            const { policy } = authorization;
            const failure = { place: 'installation', policy, reason: messageOf(error) } as const;
            await deployHooks.notifyOfRefusal(deployedModule(module), failure, run, signal);
          }
          throw error;
        }
      },
      afterApply: () => Promise.resolve(),
    };
  }
}
