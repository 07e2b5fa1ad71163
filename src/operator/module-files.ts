import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import type { ModuleGate } from '@addon-operator/module-authorization/module-gate';
import { createFlowHooks, type FlowHooksOptions } from '../extensions/flow/create-flow-hooks.ts';
import type { FlowPassDeps } from '../extensions/flow/flow-pass.ts';
import { type FoundModules, findModules } from '../modules/find-modules.ts';
import type { Module } from '../modules/module.ts';
import type { Settings } from '../settings.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { type LoneModule, onlyFilesOf } from './lone-module.ts';
import type { ModuleRegistry } from './module-registry.ts';
import { checkReconcileSchedules, nextReconcile } from './reconcile-schedule.ts';

export interface ModuleFilesOptions {
  readonly settings: FlowHooksOptions['settings'] &
    Pick<
      Settings,
      | 'modulesDirs'
      | 'unnumberedModulesOrder'
      | 'requiresValuesFiles'
      | 'globalHooksDir'
      | 'allowsLinksOutside'
    >;
  readonly host: FlowHooksOptions['host'] & { readonly log: Logger };
  readonly extensions: FlowHooksOptions['extensions'];
  /** Undefined when every module may run. */
  readonly gate: (ModuleGate & { settle(): Promise<void> }) | undefined;
  readonly crds: { read(modules: readonly Module[]): Promise<void> };
  readonly stop: AbortSignal;
  /** Absent where all modules count. */
  readonly lone?: LoneModule | undefined;
}

/** What follows a reload of files. */
export interface ReloadParts {
  readonly moduleHooks: { forget(): void };
  readonly values: Pick<ValuesStore, 'setStatic'>;
  readonly followSecrets: () => Promise<void>;
  readonly registry: Pick<ModuleRegistry, 'setModules'>;
}

/** What was read of the modules directories last, and flow hooks with it. */
export class ModuleFiles {
  readonly #options: ModuleFilesOptions;
  #found: FoundModules;
  #flow: FlowPassDeps | undefined;

  private constructor(options: ModuleFilesOptions, found: FoundModules) {
    this.#options = options;
    this.#found = found;
  }

  /** Reads the modules directories. @throws OperatorError for directories and files that cannot be used */
  static async read(options: ModuleFilesOptions): Promise<ModuleFiles> {
    return new ModuleFiles(options, await findAll(options));
  }

  get found(): FoundModules {
    return this.#found;
  }

  /** Undefined when none is registered, and before {@link loadFlow}. */
  get flow(): FlowPassDeps | undefined {
    return this.#flow;
  }

  hasModule(module: string): boolean {
    return this.#found.modules.some(({ name }) => name === module);
  }

  /** @throws OperatorError EXTENSION_INVALID */
  async loadFlow(): Promise<void> {
    this.#flow = await flowOf(this.#options, this.#found.modules);
  }

  /** Reads everything again. What cannot be read leaves everything as it was. @throws OperatorError */
  async reload({ moduleHooks, values, followSecrets, registry }: ReloadParts): Promise<void> {
    moduleHooks.forget();
    const next = await findAll(this.#options);
    this.#flow = await flowOf(this.#options, next.modules);
    this.#found = next;
    values.setStatic(next.staticValues);
    await followSecrets();
    registry.setModules(next.modules);
    await this.#options.gate?.settle();
  }
}

async function findAll({ settings, host, gate, lone, crds }: ModuleFilesOptions): Promise<FoundModules> {
  const found = await findModules({
    dirs: settings.modulesDirs,
    defaultOrder: settings.unnumberedModulesOrder,
    isStrict: settings.requiresValuesFiles,
    globalHooksDir: settings.globalHooksDir,
    gate,
    allowsLinksOutside: settings.allowsLinksOutside,
    log: componentLog(host, 'modules'),
  });
  checkReconcileSchedules(found.modules);
  const own = lone === undefined ? found : onlyFilesOf(lone, found);
  await crds.read(own.modules);
  return own;
}

async function flowOf(
  { settings, host, extensions, stop }: ModuleFilesOptions,
  modules: readonly Module[],
): Promise<FlowPassDeps | undefined> {
  return await createFlowHooks({ settings, host, extensions, nextReconcile }, modules, stop);
}
