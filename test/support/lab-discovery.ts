import type { Hook } from '../../src/hooks/hook.ts';
import type { OperatorPolicy } from '../../src/model/operator-policy.ts';
import type { ModulesDirectory } from '../../src/model/purge-guard.ts';
import type { ModuleReading, ModuleSources } from '../../src/model/services.ts';
import { type Decision, DISABLED_BY_DEFAULT } from '../../src/modules/enablement.ts';
import type { Module } from '../../src/modules/module.ts';
import type { ModuleDiscovery } from '../../src/modules/module-discovery.ts';

/** What a discovery finds out where these names are enabled and nothing else counts. */
export function labDiscovery(known: readonly Module[], enabled: ReadonlySet<string>): ModuleDiscovery {
  return {
    enabled: known.map(({ name }) => name).filter((name) => enabled.has(name)),
    decisions: new Map(
      known.flatMap((module): readonly (readonly [Module['name'], Decision])[] => {
        const { name, refusal } = module;
        const isEnabled = enabled.has(name);
        if (refusal !== undefined) {
          const source = refusal.type === 'unauthorized' ? 'authorization' : 'files';
          return [[name, { isEnabled, source, reason: refusal.reason }]];
        }
        return isEnabled ? [] : [[name, DISABLED_BY_DEFAULT]];
      }),
    ),
  };
}

/** With the policy `isolate`. */
function withFailingScripts(
  { enabled, decisions }: ModuleDiscovery,
  failing: ReadonlySet<string>,
  lastEnabled: ReadonlySet<string>,
): ModuleDiscovery {
  const undecided = enabled.filter((name) => failing.has(name));
  if (undecided.length === 0) return { enabled, decisions };
  const reason = 'its enabled script failed';
  const made = undecided.map((name): readonly [Module['name'], Decision] => [
    name,
    { isEnabled: lastEnabled.has(name), source: 'enabled-script-failure', reason },
  ]);
  return {
    enabled: enabled.filter((name) => !failing.has(name) || lastEnabled.has(name)),
    decisions: new Map([...decisions, ...made]),
    undecided: new Map(undecided.map((name) => [name, reason])),
  };
}

/** What there is to discover in a lab, and what is in the way. */
interface DiscoveredLab {
  readonly enabled: ReadonlySet<string>;
  /** Modules whose enabled scripts fail, of those that flags enable. */
  readonly failingScripts: ReadonlySet<string>;
  readonly directories: readonly ModulesDirectory[];
  /** What reading modules again finds; undefined: nothing has changed. */
  readonly reading: ModuleReading | undefined;
  readonly obstacles: ReadonlyMap<string, () => void | Promise<void>>;
}

/**
 * Discovery and loading of hooks in a lab.
 *
 * @param call notes what was requested, and throws what the test planned for it
 */
export function labSources(
  lab: DiscoveredLab,
  hooks: readonly Hook[],
  call: (what: string) => Promise<void>,
): ModuleSources {
  const discover =
    (what: string): ModuleSources['discover'] =>
    async (known, { lastEnabled }) => {
      await call(what);
      return withFailingScripts(labDiscovery(known, lab.enabled), lab.failingScripts, lastEnabled);
    };
  return {
    discover: discover('discover'),
    rediscover: discover('rediscover'),
    loadModuleHooks: async (module) => {
      await call(`config ${module.name}`);
      return hooks.filter(({ owner }) => owner.type === 'module' && owner.module === module.name);
    },
    loadGlobalHooks: async () => hooks.filter(({ owner }) => owner.type === 'global'),
    prepareModuleHooks: async (module) => {
      await call(`prepare ${module.name}`);
      return { hooks: [], keep: () => undefined };
    },
    readAgain: async () => {
      await lab.obstacles.get('reload modules')?.();
      return (
        lab.reading ?? {
          modules: new Map(),
          names: new Set(),
          staticValues: { global: {}, modules: new Map() },
          prepare: () => Promise.resolve(() => Promise.resolve()),
        }
      );
    },
    modulesDirectories: () => lab.directories,
  };
}

/** Every section is accepted. */
export const NO_CHECKS = {
  checkContent: () => Promise.resolve(),
  checkInForce: () => Promise.resolve(),
  problemsOf: () => Promise.resolve([]),
};

/** Nothing is known of modules from earlier. */
export const NO_MEMORY = {
  names: [],
  filesOf: () => undefined,
  remember: () => Promise.resolve(),
  forget: () => undefined,
};

/** The policy of a lab; by default a failing module blocks those behind it, and modules run one after another. */
export function labPolicy({
  runsModulesInParallel = false,
  failurePolicy = 'block',
}: Partial<Pick<OperatorPolicy, 'runsModulesInParallel' | 'failurePolicy'>>) {
  return {
    runsModulesInParallel,
    failurePolicy,
    ignoredRelease: 'operator',
    allowsEmptyModulesDir: false,
    purgesForeignReleases: false,
    deployHookTimeoutMs: undefined,
  };
}
