/** The buttons of the page of a module: those that make sense in its present state. */

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ActionName } from '../../src/status/action-names.ts';
import type { ModuleResponse } from '../lib/responses.ts';
import { ActionButtons } from '../parts/action-buttons.tsx';

/** The actions on a module, where the operator allows them. */
export function Actions({ module: { module, status, paused } }: { module: ModuleResponse }): VNode {
  // The stream reports pauses only after some seconds.
  const [requested, setRequested] = useState<boolean>();
  const isPaused = requested ?? paused !== undefined;
  useEffect(() => setRequested(undefined), [paused?.until, paused?.reason]);
  const isOff = status === 'disabled' || status === 'deleting';
  const actions: readonly ActionName[] = isOff
    ? ['enable']
    : [
        ...(status === 'undecided' ? [] : (['reconcile', 'force-reconcile'] as const)),
        ...(status === 'starting' ? (['abort'] as const) : []),
        isPaused ? 'resume' : 'pause',
        'disable',
      ];
  return (
    <ActionButtons
      actions={actions}
      target={{ module }}
      onDone={(action) => {
        if (action === 'pause' || action === 'resume') setRequested(action === 'pause');
      }}
    />
  );
}
