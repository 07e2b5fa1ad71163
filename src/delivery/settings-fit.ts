import type { JsonObject } from '@addon-operator/json';
import { mergeValues } from '@addon-operator/json/merge';
import { keyOfName, type ModuleName } from '../values/module-key.ts';
import { resolveSecrets, type SecretLookup } from '../values/secrets/resolve-secrets.ts';
import type { SectionSchemas } from '../values/section-schemas.ts';

/** Settings of a module, and the content that they may not fit. */
export interface SettingsOfContent {
  readonly module: ModuleName;
  /** The module's section of the ConfigMap; undefined without one. */
  readonly section: JsonObject | undefined;
  /** From the values files of the content. */
  readonly staticValues: JsonObject;
  /** Of the content. */
  readonly schemas: SectionSchemas;
  /** Undefined where references to Secrets are plain data. */
  readonly secrets?: SecretLookup | undefined;
}

/** A required value that hooks may still set is no problem of the settings. */
const MAY_BE_SET_BY_HOOKS = / in body is required$/;

/**
 * Checks whether the section of a module, with the values of its files, fits the schemas of a
 * content, before the content is in operation. References to Secrets that cannot be resolved now are
 * not judged.
 *
 * @returns one sentence for each field, which begins with its path; empty if they fit
 */
export function settingsFit({
  module,
  section = {},
  staticValues,
  schemas: { config, values },
  secrets,
}: SettingsOfContent): readonly string[] {
  const key = keyOfName(module);
  const resolved = (data: JsonObject): { readonly data: JsonObject; readonly unknown: readonly string[] } => {
    if (secrets === undefined) return { data, unknown: [] };
    const { values: known, unresolved } = resolveSecrets(data, secrets, 'null');
    return { data: known, unknown: unresolved.map(({ pointer }) => pointer) };
  };
  const problems: string[] = [];
  // An empty section is not checked when it is taken over either.
  if (config !== undefined && Object.keys(section).length > 0) {
    const { data, unknown } = resolved(config.withDefaults(section));
    problems.push(...config.problems(key, data, { unknown }));
  }
  if (values !== undefined) {
    const base = config === undefined ? staticValues : config.withDefaults(staticValues);
    const { data, unknown } = resolved(values.withDefaults(mergeValues(base, section)));
    const found = values.problems(key, data, { unknown });
    problems.push(...found.filter((problem) => !MAY_BE_SET_BY_HOOKS.test(problem)));
  }
  return [...new Set(problems)];
}
