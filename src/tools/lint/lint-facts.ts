import type { JsonObject } from '@addon-operator/json';
import type { HookConfig } from '../../hook-config/hook-config.ts';
import type { HookTransport } from '../../hooks/hook.ts';
import type { Module } from '../../modules/module.ts';

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
  readonly transport: HookTransport;
  readonly config: Pick<HookConfig, 'schedule' | 'kubernetes' | 'admission' | 'settings'>;
  /** Kinds of its bindings that are neither built in nor defined by a module. */
  readonly unknownKinds: readonly string[];
}

/** The text of a file; empty without one. */
export function textAt(files: readonly FileFacts[], path: string): string {
  return files.find((file) => file.path === path)?.text ?? '';
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

/** What the parsers and the renderer of the operator say about a module. */
export interface ParsedModule {
  readonly problems: readonly ParserProblem[];
  /** Absent when it cannot be read. */
  readonly module?: Pick<Module, 'name' | 'key' | 'version' | 'chart' | 'manifest'>;
  /** All modules of the modules directory, this one included, as far as they can be read. */
  readonly siblings: readonly Module[];
  /** Files that helm gets: its own, and those that templates may read. */
  readonly chartFiles: readonly string[];
  /** Its section of values, with defaults; absent when values cannot be read. */
  readonly values?: JsonObject;
  /** Files that are hooks, relative to the module, broken ones included. */
  readonly hookFiles: readonly string[];
  /** Files beside the hooks that could be hooks and are none, relative to the module. */
  readonly unusedFiles: readonly string[];
  readonly hooks: readonly LintedHook[];
  readonly renderings: readonly Rendering[];
  /** Built-in kinds among the rendered objects whose objects have a namespace, such as `apps/v1/Deployment`. */
  readonly namespacedKinds: ReadonlySet<string>;
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
