/** Derives `status.phase` from status and first cause; `Succeeded` if and only if the condition `Ready` is true. */

import type { Cause, WhyId } from './cause.ts';
import type { ModuleExplanation, ModulePhase } from './module-explanation.ts';
import type { ModuleFacts } from './module-facts.ts';

type Explained = Pick<ModuleExplanation, 'status' | 'step' | 'causes' | 'failure' | 'pause'>;
type Run = Pick<ModuleFacts, 'isDeployed' | 'progress'>;

/** Of a module that has been run to its end before. */
const PHASES = { pending: 'Init', running: 'Progressing', none: 'Succeeded' } as const;

/** Conditions that are true before the module itself has anything to do. */
const BEFORE_RUN: ReadonlySet<WhyId> = new Set([
  'authorized',
  'found',
  'config',
  'enabled',
  'not-paused',
  'requirements',
  'queue',
]);

/** The phase of a module; null while it is disabled. */
export function modulePhase(explained: Explained, run: Run): ModulePhase | null {
  const { status, failure, causes, pause, step } = explained;
  const [cause] = causes;
  switch (status) {
    case 'disabled':
      return null;
    case 'undecided':
      return 'Init';
    case 'deleting':
      return 'Deleting';
    case 'failing':
      // After a final failure only a change or a request has it run again.
      return failure?.isGivenUp === true && run.progress !== 'none' ? PHASES[run.progress] : 'Failed';
    case 'held':
    case 'unauthorized':
    case 'isolated':
      return 'Failed';
    case 'paused':
      if (cause !== undefined) return heldUp(cause);
      return pause?.handedOverTo === undefined ? 'Succeeded' : 'Progressing';
    case 'starting':
      if (step === 'not started') return 'Init';
      return cause === undefined ? 'Progressing' : heldUp(cause);
    case 'held-up':
    case 'ready':
      return cause === undefined ? PHASES[run.progress] : heldUp(cause);
  }
}

/** The phase of a module that did not fail itself. */
function heldUp({ node, isStalled }: Cause): ModulePhase {
  if (BEFORE_RUN.has(node)) return 'Init';
  return isStalled ? 'Failed' : 'Progressing';
}
