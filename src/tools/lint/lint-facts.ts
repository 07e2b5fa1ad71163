import type { JsonObject } from '@addon-operator/json';
import type { HookConfig } from '../../hook-config/hook-config.ts';

/** One entry of the directory of a module. */
export interface FileFacts {
  /** Relative to the module, with `/` between the parts. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link';
  readonly isExecutable: boolean;
  readonly sizeBytes: number;
  /** Absent for what is no UTF-8 text, or is larger than 1 MiB. */
  readonly text?: string;
}

export interface LintedHook {
  /** Relative to the module. */
  readonly path: string;
  /** Its name, if its file has several hooks. */
  readonly part?: string;
  readonly transport: 'executable' | 'in-process' | 'http';
  readonly config: HookConfig;
  /** Kinds of its bindings that are neither built in nor defined by a module. */
  readonly unknownKinds: readonly string[];
}

/** What the operator refuses. */
export interface ParserProblem {
  /** Code of the rule that reports it. */
  readonly rule: string;
  /** File relative to the module; empty for the module itself. */
  readonly path: string;
  readonly message: string;
}

/** What a chart renders to with some values, twice in a row. */
export interface Rendering {
  /** The file with the values relative to the module; empty for the values that the module has itself. */
  readonly valuesFile: string;
  readonly manifests: readonly [string, string];
}

export interface RequirementFacts {
  readonly name: string;
  /** A range of versions; undefined for any. */
  readonly version: string | undefined;
  readonly isOptional: boolean;
}

/** A module in the same modules directory. */
export interface SiblingFacts {
  readonly name: string;
  /** Undefined without a semantic version. */
  readonly version: string | undefined;
  readonly requires: readonly RequirementFacts[];
}

/** What the parsers and the renderer of the operator say about a module. */
export interface ParsedModule {
  readonly problems: readonly ParserProblem[];
  /** Absent when its name cannot be used. */
  readonly name?: string;
  /** Key of its values, such as `webShop`; absent when its name cannot be used. */
  readonly key?: string;
  readonly version?: string | undefined;
  readonly reconcileEvery?: string | undefined;
  /** Its order by module.yaml; absent without one. */
  readonly weight?: number | undefined;
  /** Sentences about keys and values of module.yaml that have no effect; absent without any. */
  readonly ignored?: readonly string[];
  readonly requires: readonly RequirementFacts[];
  /** All modules of the modules directory, this one included, as far as they can be read. */
  readonly siblings: readonly SiblingFacts[];
  /** Whether helm packs the module as it is, only its templates, or nothing. */
  readonly chart: 'chart-yaml' | 'templates-only' | 'none';
  /** Files that helm gets: its own, and those that templates may read. */
  readonly chartFiles: readonly string[];
  /** Its section of values, with defaults; absent when values cannot be read. */
  readonly values?: JsonObject;
  /** Files that are hooks, relative to the module, broken ones included. */
  readonly hookFiles: readonly string[];
  readonly hooks: readonly LintedHook[];
  readonly renderings: readonly Rendering[];
}

/** All that rules may know about a module. */
export interface LintFacts {
  /** Path of its directory as messages show it. */
  readonly directory: string;
  /** Name of its directory, or of the link to it. */
  readonly directoryName: string;
  /** Without `.git`, `node_modules` and `venv`. */
  readonly files: readonly FileFacts[];
  readonly parsed: ParsedModule;
}
