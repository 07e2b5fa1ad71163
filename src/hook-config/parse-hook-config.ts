/**
 * From the output of `hook --config` to a validated `HookConfig`. `hooks/load-hooks.ts` and `batch-config.ts` call it once
 * for each hook. The steps: parse YAML or JSON, detect the version, validate with the JSON schema, check what a schema
 * cannot express, convert. All problems are collected into one HOOK_CONFIG_INVALID, so that an author sees them together.
 */

import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
import type { ErrorObject } from 'ajv';
import type { BindingChecks } from './binding-checks.ts';
import { type HookScope, lifecycleBindingsOf } from './binding-kinds.ts';
import type { ConfigVersion, HookConfig } from './hook-config.ts';
import { configVersionOf, invalidConfig, parseConfigDocument, ValidParts } from './hook-config-document.ts';
import { hookConfigValidator, schemaProblem } from './hook-config-schemas.ts';
import { configFromV0, v0Problems } from './parse-hook-config-v0.ts';
import { configFromV1, v1Problems } from './parse-hook-config-v1.ts';

const OF_GLOBAL_HOOKS: ReadonlySet<string> = new Set([...lifecycleBindingsOf('global'), ...DEPLOY_BINDINGS]);

/** Turns `--config` output into a {@link HookConfig}. One parser serves all hooks. */
export class HookConfigParser {
  readonly #checks: BindingChecks;

  constructor(checks: BindingChecks) {
    this.#checks = checks;
  }

  /**
   * Parses YAML or JSON; of several YAML documents the first counts.
   *
   * @throws OperatorError HOOK_CONFIG_INVALID listing every problem with its path
   */
  async parse(text: string, scope: HookScope): Promise<HookConfig> {
    const document = parseConfigDocument(text);
    const version = configVersionOf(document);
    const validate = hookConfigValidator(version, scope);
    const errors = validate(document) ? [] : (validate.errors ?? []);
    const problems = [
      ...errors.map((error) => `${schemaProblem(error)}${hint(error, version, scope)}`),
      // Parts that the schema accepts are checked even if others are broken.
      ...(version === 'v0'
        ? await v0Problems(new ValidParts(document, errors), this.#checks)
        : await v1Problems(new ValidParts(document, errors), this.#checks)),
    ];
    if (problems.length > 0) throw invalidConfig(problems);
    return version === 'v0' ? configFromV0(document) : configFromV1(document);
  }
}

function hint({ keyword, instancePath, params }: ErrorObject, version: ConfigVersion, scope: HookScope) {
  if (keyword !== 'additionalProperties' || instancePath !== '') return '';
  const isOfGlobalHooks = scope === 'module' && OF_GLOBAL_HOOKS.has(String(params['additionalProperty']));
  if (isOfGlobalHooks) return '; only global hooks have this binding';
  // Most hooks without a version are not old: their author forgot it.
  return version === 'v0' ? "; for other bindings, set 'configVersion: v1'" : '';
}
