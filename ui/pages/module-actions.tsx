/**
 * Buttons that run, stop, pause and resume a module. They exist only if the operator was started with `--ui-actions`, and
 * the server checks that again. The result of a request is shown beside the buttons.
 */

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { changes } from '../lib/live.ts';
import { useRefusals } from '../lib/me.ts';
import type { ModuleResponse } from '../lib/responses.ts';
import { allowsActions } from '../lib/site.ts';
import { type Order, runAction } from './run-action.ts';

/** The actions on a module, where the operator allows them. */
export function Actions({ module }: { module: ModuleResponse }): VNode | null {
  return allowsActions ? <ActionBar module={module} /> : null;
}

/** The buttons that make sense in the present state of the module. */
function ActionBar({ module: { module, status, paused } }: { module: ModuleResponse }): VNode {
  const isEnabled = status !== 'disabled' && status !== 'deleting' && status !== 'undecided';
  const [result, setResult] = useState<{ text: string; isError: boolean }>();
  const [isBusy, setBusy] = useState(false);
  const refusals = useRefusals(module);
  const [isPausing, setPausing] = useState(false);
  // The stream reports pauses only after some seconds.
  const [requested, setRequested] = useState<boolean>();
  const isPaused = requested ?? paused !== undefined;
  useEffect(() => setRequested(undefined), [paused?.until, paused?.reason]);
  const order = async (body: Order): Promise<void> => {
    setBusy(true);
    const reply = await runAction(module, body);
    if (!reply.isError && (body.action === 'pause' || body.action === 'resume'))
      setRequested(body.action === 'pause');
    setResult(reply);
    setBusy(false);
    changes.value += 1;
  };
  const button = (text: string, body: Order, title: string): VNode => (
    <button
      type="button"
      disabled={isBusy || refusals.has(body.action)}
      title={refusals.get(body.action) ?? title}
      onClick={() => void order(body)}
    >
      {text}
    </button>
  );
  return (
    <section class="actions" aria-label={`Actions for ${module}`}>
      {isEnabled &&
        button(
          'Run now',
          { action: 'reconcile' },
          'Run the module now. Helm runs only if something has changed.',
        )}
      {isEnabled &&
        button(
          'Run with helm',
          { action: 'force-reconcile' },
          'Run the module now. Helm runs even if nothing has changed.',
        )}
      {status === 'starting' && button('Stop the run', { action: 'abort' }, 'End the run in progress')}
      {!isPaused ? (
        <button
          type="button"
          disabled={isBusy || refusals.has('pause')}
          title={refusals.get('pause')}
          onClick={() => setPausing(true)}
        >
          Pause …
        </button>
      ) : (
        button('Resume', { action: 'resume' }, 'End the pause')
      )}
      {/* The title of a disabled button is not shown to everyone. */}
      {refusals.size > 0 && <p class="dim">{[...refusals.values()][0]}</p>}
      <output class={result?.isError === true ? 'bad' : 'dim'}>{result?.text}</output>
      {isPausing && (
        <PauseDialog
          module={module}
          onEnd={(fields) => {
            setPausing(false);
            if (fields !== undefined) void order({ action: 'pause', ...fields });
          }}
        />
      )}
    </section>
  );
}

/** A pause needs a reason: others find a module that does nothing. */
function PauseDialog({
  module,
  onEnd,
}: {
  module: string;
  onEnd: (fields: { reason: string; for?: string } | undefined) => void;
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [duration, setDuration] = useState('1h');
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="pause" onCancel={() => onEnd(undefined)}>
      <h2 id="pause">Pause {module}</h2>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          onEnd({ reason, ...(duration !== '' && { for: duration }) });
        }}
      >
        <label class="field">
          <span>Reason (shown to other users)</span>
          <input
            required
            value={reason}
            maxLength={1_000}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>For</span>
          <select value={duration} onChange={(event) => setDuration(event.currentTarget.value)}>
            <option value="15m">15 minutes</option>
            <option value="1h">1 hour</option>
            <option value="8h">8 hours</option>
            <option value="24h">24 hours</option>
            <option value="">until it is resumed</option>
          </select>
        </label>
        <div class="row">
          <button type="button" onClick={() => onEnd(undefined)}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Pause
          </button>
        </div>
      </form>
    </dialog>
  );
}
