/**
 * The buttons of all pages that request actions, made from the table of actions. They exist only if the operator was
 * started with `--ui-actions`, and the server checks that again. The result of a request is shown beside the buttons.
 */

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ACTIONS } from '../../src/server/api/actions.ts';
import type { ActionName } from '../../src/status/action-names.ts';
import { changes } from '../lib/live.ts';
import { useRefusals } from '../lib/me.ts';
import {
  type ActionFields,
  type ActionResult,
  type ActionTarget,
  runAction,
  targetName,
} from '../lib/run-action.ts';
import { allowsActions } from '../lib/site.ts';
import { capital, Sentence } from './sentence.tsx';

interface ActionButtonsProps {
  readonly actions: readonly ActionName[];
  readonly target: ActionTarget;
  /** Called with an action that was accepted. */
  readonly onDone?: (action: ActionName) => void;
}

/** A button for each action; below them the sentence about the one that has the pointer or the focus. */
export function ActionButtons(props: ActionButtonsProps): VNode | null {
  return allowsActions && props.actions.length > 0 ? <Buttons {...props} /> : null;
}

function Buttons({ actions, target, onDone }: ActionButtonsProps): VNode {
  const [shown, setShown] = useState(actions[0]);
  const [asked, setAsked] = useState<ActionName>();
  const [result, setResult] = useState<ActionResult>();
  const [isBusy, setBusy] = useState(false);
  const refusals = useRefusals(target.module);
  // Which module a queue or a hook concerns, only the operator knows: it decides when the button is used.
  const refusalOf = (action: ActionName): string | undefined =>
    ['module', 'operator'].includes(ACTIONS[action].target) ? refusals.get(action) : undefined;
  const refused = actions.find((action) => refusalOf(action) !== undefined);
  const described = actions.find((action) => action === shown) ?? actions[0];
  const run = async (action: ActionName, fields?: ActionFields): Promise<void> => {
    setAsked(undefined);
    setBusy(true);
    const reply = await runAction(action, target, fields);
    setResult(reply);
    setBusy(false);
    if (!reply.isError) onDone?.(action);
    changes.value += 1;
  };
  return (
    <section class="actions" aria-label="Actions">
      <div class="row start">
        {actions.map((action) => {
          const { label, does } = ACTIONS[action];
          const hasDialog = isConfirmed(action);
          return (
            <button
              key={action}
              type="button"
              class="small"
              disabled={isBusy || refusalOf(action) !== undefined}
              title={refusalOf(action) ?? does}
              aria-label={`${label} (${targetName(action, target)})`}
              onPointerEnter={() => setShown(action)}
              onFocus={() => setShown(action)}
              onClick={() => (hasDialog ? setAsked(action) : void run(action))}
            >
              {hasDialog ? `${label} …` : label}
            </button>
          );
        })}
        <output class={result?.isError === true ? 'bad' : 'dim'}>
          {result !== undefined && <Sentence text={capital(result.text)} />}
        </output>
      </div>
      {described !== undefined && (
        <p class="dim does">
          {ACTIONS[described].label}: {ACTIONS[described].does}
        </p>
      )}
      {/* Not everyone can see the title of a disabled button. */}
      {refused !== undefined && <p class="dim">{refusalOf(refused)}</p>}
      {asked !== undefined && (
        <ActionDialog
          action={asked}
          target={target}
          onEnd={(fields) => (fields === undefined ? setAsked(undefined) : void run(asked, fields))}
        />
      )}
    </section>
  );
}

/** Whether an action is requested in a dialog: something is lost, or it has to be said why. */
function isConfirmed(action: ActionName): boolean {
  return ACTIONS[action].loses !== '' || ACTIONS[action].needs.includes('reason');
}

/** Says what an action does and what is lost; others see the reason. */
function ActionDialog({
  action,
  target,
  onEnd,
}: {
  action: ActionName;
  target: ActionTarget;
  /** Undefined when it was cancelled. */
  onEnd: (fields: ActionFields | undefined) => void;
}): VNode {
  const { label, does, loses, needs, takes } = ACTIONS[action];
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [duration, setDuration] = useState('1h');
  const hasDuration = takes.includes('for');
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="action" onCancel={() => onEnd(undefined)}>
      <h2 id="action">
        {label}: {targetName(action, target)}
      </h2>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          onEnd({
            ...(reason !== '' && { reason }),
            ...(hasDuration && duration !== '' && { for: duration }),
          });
        }}
      >
        <p>{does}</p>
        {loses !== '' && (
          <p>
            <strong>{loses}</strong>
          </p>
        )}
        <label class="field">
          <span>Reason ({needs.includes('reason') ? 'shown to other users' : 'optional, recorded'})</span>
          <input
            required={needs.includes('reason')}
            value={reason}
            maxLength={1_000}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        {hasDuration && <Duration value={duration} onChange={setDuration} />}
        <div class="row">
          <button type="button" onClick={() => onEnd(undefined)}>
            Cancel
          </button>
          <button type="submit" class="primary">
            {label}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function Duration({ value, onChange }: { value: string; onChange: (duration: string) => void }): VNode {
  return (
    <label class="field">
      <span>For</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="15m">15 minutes</option>
        <option value="1h">1 hour</option>
        <option value="8h">8 hours</option>
        <option value="24h">24 hours</option>
        <option value="">until it is resumed</option>
      </select>
    </label>
  );
}
