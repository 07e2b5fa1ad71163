import type { ModuleName } from '../values/module-key.ts';

/** Another module that has to run before this one. */
export interface Requirement {
  readonly name: ModuleName;
  /** The range of versions, in npm's syntax; undefined: any. */
  readonly version: string | undefined;
  /** The requirement counts only if the other module is enabled. */
  readonly isOptional: boolean;
}
