import type { ModuleName } from '../values/module-key.ts';

/** Another module that has to run before this one. */
export interface Requirement {
  readonly name: ModuleName;
  /** Range of versions, as npm writes them; undefined: any. */
  readonly version: string | undefined;
  /** Only when the other module is enabled it has to run before, and to have the version. */
  readonly isOptional: boolean;
}
