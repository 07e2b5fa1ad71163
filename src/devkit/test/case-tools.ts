import type { ApiState, ObjectOrFile, StepFacts } from '@addon-operator/hook-test';
import type { NewObject } from '@addon-operator/kube-client/object-patch/patch-operation';

/** What a case has besides the hook. */
export interface CaseTools {
  /** What the hook did and what was logged as an error since the last call. */
  readonly take: () => Pick<StepFacts, 'changes' | 'errors' | 'requests'>;
  readonly readObjects: (given: ObjectOrFile | readonly ObjectOrFile[]) => Promise<readonly NewObject[]>;
  /** Replaces sections of the ConfigMap of the operator. */
  readonly writeValues: (sections: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly setApi: (state: ApiState) => void;
  /** @throws Error when the patch does not fit the object */
  readonly patched: (object: unknown, patch: readonly unknown[]) => unknown;
}
