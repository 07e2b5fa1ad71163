import type { NewObject } from '@addon-operator/kube-client/object-patch/patch-operation';
import type { Hook } from '../../hooks/hook.ts';
import type { ReplayedHook } from '../../recordings/hook-recordings.ts';
import type { ApiState, ObjectOrFile, StepFacts } from '../../tools/hook-test/hook-test.ts';

/** The tools of a case besides the hook. */
export interface CaseTools {
  /** The actions of the hook, and the errors in the log, since the last call. */
  readonly take: () => Pick<StepFacts, 'changes' | 'errors' | 'requests'>;
  readonly readObjects: (given: ObjectOrFile | readonly ObjectOrFile[]) => Promise<readonly NewObject[]>;
  /** Replaces sections of the ConfigMap of the operator. */
  readonly writeValues: (sections: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly setApi: (state: ApiState) => void;
  /**
   * Runs the hook with the input of the recordings at a path, and returns what is not as it was recorded.
   *
   * @throws OperatorError when there are none of this hook
   */
  readonly replay: (path: string, hook: Hook, replayed: ReplayedHook) => Promise<string | undefined>;
  /** @throws Error when the patch does not fit the object */
  readonly patched: (object: unknown, patch: readonly unknown[]) => unknown;
}
