import type { HelmSettings } from '../settings/helm-settings.ts';
import type { HookRunSettings } from '../settings/hook-settings.ts';
import type { ModuleSettings } from '../settings/module-settings.ts';

/**
 * The limit of deploy hooks in milliseconds: without one, a hook that hangs would block every deployment.
 */
const DEPLOY_HOOK_TIMEOUT_MS = 300_000;

/**
 * The effect of a failing module. `block`: everything behind it waits, which is the strict order of
 * the lifecycle. `isolate`: only modules that require it wait; its tasks move to a queue of its
 * own.
 */
export type FailurePolicy = 'block' | 'isolate';

/** Settings that decide what the operator does, apart from how it runs. */
export interface OperatorPolicy {
  /** Whether modules with equal order numbers run at the same time. */
  readonly runsModulesInParallel: boolean;
  readonly failurePolicy: FailurePolicy;
  /** Limit in milliseconds for hooks of a deploy that have none of their own; undefined: that of all hooks. */
  readonly deployHookTimeoutMs: number | undefined;
  /** Helm releases with this name are never removed. */
  readonly ignoredRelease: string;
  /** Whether releases without a module are removed although this operator does not own them. */
  readonly purgesForeignReleases: boolean;
  /** Whether releases are removed although a modules directory has become empty. */
  readonly allowsEmptyModulesDir: boolean;
}

type PolicySettings = Pick<ModuleSettings, 'runsModulesInParallel' | 'moduleFailurePolicy'> &
  Pick<HelmSettings, 'helmIgnoreRelease' | 'purgesForeignReleases' | 'allowsEmptyModulesDir'> &
  Pick<HookRunSettings, 'hookTimeoutMs'>;

export function operatorPolicy(settings: PolicySettings): OperatorPolicy {
  return {
    runsModulesInParallel: settings.runsModulesInParallel,
    failurePolicy: settings.moduleFailurePolicy,
    deployHookTimeoutMs: settings.hookTimeoutMs === 0 ? DEPLOY_HOOK_TIMEOUT_MS : undefined,
    ignoredRelease: settings.helmIgnoreRelease,
    purgesForeignReleases: settings.purgesForeignReleases,
    allowsEmptyModulesDir: settings.allowsEmptyModulesDir,
  };
}
