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

/** The parts that refusals are read from and reported to. */
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
 * The stage `authorize` of the pipeline: skips every task of a module that must not run, also its
 * deletion, whose hooks would run as well. While only its enabled script fails, its started hooks continue. Returns whether the task is skipped.
 */
export function skipIfRefused(
  { authorization, registry, log }: Pick<RefusedModulesParts, 'authorization' | 'registry' | 'log'>,
  task: Task,
): boolean {
  const name = moduleOf(task);
  const refusal = registry.holdOf(name);
  // The script decides about the next run, not about hooks that are running.
  if (refusal?.type === 'undecided' && task.type === 'ModuleHookRun') return false;
  if (refusal === undefined || (refusal.type === 'unauthorized' && authorization === undefined)) return false;
  log.info({ module: name, task: task.type, reason: refusal.reason }, SKIPPED_MESSAGES[refusal.type]);
  return true;
}

/** Reports refused modules, and checks authorization before a deployment. */
export class RefusedModules {
  readonly #parts: RefusedModulesParts;

  constructor(parts: RefusedModulesParts) {
    this.#parts = parts;
  }

  /**
   * Called after each discovery. Reports refused modules that would run otherwise, once for each
   * reason, and schedules the retry of failed scripts.
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
      // The same reason was reported after an earlier discovery.
      if (before.get(module.name) === reason) continue;
      const remedy = type === 'unauthorized' ? {} : { fix: refusal.remedy };
      log.error({ module: module.name, reason, ...remedy }, REFUSED_MESSAGES[type]);
      if (type !== 'unauthorized' || authorization === undefined) continue;
      const { policy } = authorization;
      deployHooks.queueUnauthorized(deployedModule(module), { place: 'manifest', policy, reason });
    }
  }

  /**
   * Steps that check a module again right before its deployment; undefined when every module may
   * run.
   */
  verificationSteps(module: Module, run: LifecycleRun): ReleaseSteps | undefined {
    const { authorization, deployHooks } = this.#parts;
    if (authorization === undefined) return undefined;
    return {
      digest: '',
      isOpen: false,
      // No transformation: the digest is empty, so these steps never change the release.
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
