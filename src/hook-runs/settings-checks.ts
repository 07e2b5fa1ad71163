import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { canonicalJson, type JsonObject } from '@addon-operator/json';
import type { SettingsVerdict } from '../hooks/batch-file.ts';
import type { Hook } from '../hooks/hook.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import type { RecordedEvent } from '../status/module-events.ts';
import { type ConfigMapContent, sectionIn } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';

export interface SettingsChecksParts {
  readonly registry: Pick<ModuleRegistry, 'tracked'>;
  readonly values: Pick<ValuesStore, 'configValues' | 'sectionWithDefaults'>;
  readonly run: (hook: Hook, settings: string, log: Logger, signal: AbortSignal) => Promise<SettingsVerdict>;
  /** Records an Event about a module. */
  readonly record: (module: ModuleName, event: RecordedEvent) => void;
  readonly log: Logger;
}

/**
 * Runs the settings checks of module-sdk batch files on sections of the ConfigMap: before a changed
 * section is applied (`operator/apply-config.ts`), and when a module starts. An accepted section is
 * not checked again, and an empty one is never checked, as with schemas.
 */
export class SettingsChecks {
  readonly #parts: SettingsChecksParts;

  constructor(parts: SettingsChecksParts) {
    this.#parts = parts;
  }

  /**
   * Checks the changed sections of a new content.
   *
   * @param isInUse whether the section of a module is used
   * @throws OperatorError VALUES_INVALID with the message of each module that refuses its section
   */
  async checkContent(
    content: ConfigMapContent,
    isInUse: (module: ModuleName) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { registry, values } = this.#parts;
    const problems: string[] = [];
    for (const tracked of registry.tracked.values()) {
      const { name, key } = tracked.module;
      const section = sectionIn(content, key) ?? {};
      const isChanged = canonicalJson(section) !== canonicalJson(values.configValues(name) ?? {});
      if (isChanged && isInUse(name)) problems.push(...(await this.#problemsOf(tracked, section, signal)));
    }
    if (problems.length > 0) throw new OperatorError('VALUES_INVALID', problems.join('\n'));
  }

  /**
   * Checks the current section of a module that starts.
   *
   * @throws OperatorError VALUES_INVALID when it is refused
   */
  async checkInForce(tracked: TrackedModule, signal: AbortSignal): Promise<void> {
    const section = this.#parts.values.configValues(tracked.module.name) ?? {};
    const problems = await this.#problemsOf(tracked, section, signal);
    if (problems.length > 0) throw new OperatorError('VALUES_INVALID', problems.join('\n'));
  }

  /** Why a version of a module that does not run yet refuses a section; empty if it accepts it. */
  async problemsOf(
    version: CheckedVersion,
    section: JsonObject,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    return (await this.#check(version, section, signal)).problems;
  }

  /**
   * Runs the checks of one module on a section. Returns the refusals; stores and reports warnings
   * only if there are none.
   */
  async #problemsOf(
    tracked: TrackedModule,
    section: JsonObject,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { values, log, record } = this.#parts;
    const { name } = tracked.module;
    const text = canonicalJson(section);
    const hooks = (tracked.hooks ?? []).map(({ hook }) => hook);
    if (text === tracked.settings?.section || !hooks.some(isCheck)) return [];
    const { problems, warnings } = await this.#check({ name, hooks, values }, section, signal);
    // Warnings of a refused section are dropped: the refusal comes first for the user.
    if (problems.length > 0 || text === '{}') return problems;
    tracked.noteSettings({ section: text, warnings });
    for (const message of warnings) {
      log.warn({ module: name, warning: message }, 'values in the ConfigMap are accepted with a warning');
      record(name, { type: 'Warning', reason: 'SettingsWarning', message });
    }
    return [];
  }

  async #check(
    { name, hooks, values }: CheckedVersion,
    section: JsonObject,
    signal: AbortSignal,
  ): Promise<{ readonly problems: readonly string[]; readonly warnings: readonly string[] }> {
    const { run, log } = this.#parts;
    const problems: string[] = [];
    const warnings: string[] = [];
    if (Object.keys(section).length === 0) return { problems, warnings };
    const settings = JSON.stringify(values.sectionWithDefaults(name, section));
    for (const hook of hooks.filter(isCheck)) {
      const hookLog = log.child({ module: name, hook: hook.name });
      const refused = (why: string): string =>
        `values of module '${name}' in the ConfigMap are refused by \`${hook.path} hook check\`: ${why}`;
      try {
        const verdict = await run(hook, settings, hookLog, signal);
        if (!verdict.isValid) problems.push(refused(verdict.message || 'it gives no reason'));
        warnings.push(...verdict.warnings);
      } catch (error) {
        // A check that cannot run refuses: an unchecked section may break the module.
        if (signal.aborted) throw error;
        problems.push(refused(`it cannot be checked: ${messageOf(error)}`));
      }
    }
    return { problems, warnings };
  }
}

/** A module with the hooks and values that check its section. */
interface CheckedVersion {
  readonly name: ModuleName;
  readonly hooks: readonly Hook[];
  readonly values: Pick<ValuesStore, 'sectionWithDefaults'>;
}

function isCheck({ batch }: Hook): boolean {
  return batch?.type === 'settings-check';
}
