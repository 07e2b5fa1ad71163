/**
 * Versions of a module: what runs, what is wanted and why it does not come yet, what failed; and the history of its release
 * with the way back. An approval is written to the ModuleInstall by the person who approves, never by the operator, so the
 * page shows its command.
 */

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { changes } from '../lib/live.ts';
import { useRefusals } from '../lib/me.ts';
import type { HistoryResponse, ModuleExplanation } from '../lib/responses.ts';
import { runAction } from '../lib/run-action.ts';
import { allowsActions } from '../lib/site.ts';
import { capital, Sentence } from '../parts/sentence.tsx';
import { Card, Time } from '../parts/text.tsx';

type Delivery = NonNullable<ModuleExplanation['delivery']>;

/** Nothing for a module of a plain directory that does not wait for another version. */
export function Versions({
  explanation: { delivery, update, version },
}: {
  explanation: ModuleExplanation;
}): VNode | null {
  if (delivery === undefined && update === undefined) return null;
  const problem =
    delivery && (delivery.invalid ?? delivery.missing ?? delivery.problem ?? delivery.sourceProblem);
  return (
    <Card title="Versions">
      <dl class="facts">
        <dt>Runs</dt>
        <dd>
          {version ?? 'unknown'}
          {delivery?.installed && <Digest version={delivery.installed} />}
        </dd>
        {update !== undefined && (
          <>
            <dt>Wanted</dt>
            <dd>
              <p>
                {update.version ?? 'another version'}{' '}
                <strong class={update.needs === 'time' ? 'wait' : 'bad'}>{update.reason}</strong>{' '}
                <span class="dim">
                  <Time at={update.since} kind="for" />
                </span>
              </p>
              <p>
                <Sentence text={capital(update.message)} />
                {update.until !== undefined && (
                  <>
                    {' '}
                    (<Time at={update.until} kind="until" />)
                  </>
                )}
              </p>
              {update.remedy !== undefined && (
                <p>
                  To update it: <Sentence text={update.remedy} />
                </p>
              )}
            </dd>
          </>
        )}
        {delivery !== undefined && <Delivered delivery={delivery} />}
        {typeof problem === 'string' && (
          <>
            <dt>Problem</dt>
            <dd class="bad">{problem}</dd>
          </>
        )}
      </dl>
    </Card>
  );
}

/** What only modules of sources have. */
function Delivered({
  delivery: { source, installed, lastGood, failed, waitsFor },
}: {
  delivery: Delivery;
}): VNode {
  return (
    <>
      <dt>Source</dt>
      <dd>{source ?? 'no ModuleInstall any more'}</dd>
      {lastGood !== null && lastGood.digest !== installed?.digest && (
        <>
          <dt>Last good</dt>
          <dd>
            {lastGood.version} <Digest version={lastGood} />
          </dd>
        </>
      )}
      {waitsFor !== null && (
        <>
          <dt>Observed</dt>
          <dd>{waitsFor}</dd>
        </>
      )}
      {failed.length > 0 && (
        <>
          <dt>Failed</dt>
          <dd>
            {failed.toReversed().map((version) => (
              <div key={version.digest}>
                {version.version} <Digest version={version} />: {version.why}
              </div>
            ))}
          </dd>
        </>
      )}
    </>
  );
}

const SHOWN_DIGEST = 12;

function Digest({ version: { digest, at } }: { version: { digest: string; at: string } }): VNode {
  return (
    <span class="dim">
      {' '}
      <code title={digest}>{digest.replace(/^sha256:/u, '').slice(0, SHOWN_DIGEST)}</code> <Time at={at} />
    </span>
  );
}

/** The versions that a source delivered, with what became of them. */
export function DeliveredVersions({
  name,
  versions,
}: {
  name: string;
  versions: HistoryResponse['versions'];
}): VNode | null {
  const refusal = useRefusals(name).get('rollback');
  if (versions.length === 0) return null;
  const running = versions.find(({ outcome }) => outcome === 'running');
  return (
    <Card title="Versions">
      <table>
        <caption class="unseen">Versions, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="wide">
              Reason
            </th>
            <th scope="col" class="number">
              Since
            </th>
            <th scope="col">
              <span class="unseen">Roll back</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {versions.map(({ version, digest, at, outcome, reason, hasValues }) => (
            <tr key={at}>
              <th scope="row" title={digest}>
                {version}
              </th>
              <td class="short">{outcome}</td>
              <td class="wide main">{reason}</td>
              <td class="number">
                <Time at={at} />
              </td>
              <td class="number">
                {digest !== running?.digest && (
                  <RollBack
                    name={name}
                    to={version}
                    title={`version ${version}`}
                    hasValues={hasValues}
                    refusal={refusal}
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

/** A button where actions are on; what it does is said before it is done. */
export function RollBack({
  name,
  to,
  title,
  hasValues,
  refusal,
}: {
  name: string;
  /** A version, or the number of a revision. */
  to: string;
  title: string;
  hasValues: boolean;
  /** Why this user may not; undefined if it may. */
  refusal: string | undefined;
}): VNode | null {
  const [isAsking, setAsking] = useState(false);
  const [result, setResult] = useState<{ text: string; isError: boolean }>();
  if (!allowsActions) return null;
  const rollBack = async (withValues: boolean): Promise<void> => {
    setResult({ text: 'Rolling back …', isError: false });
    setResult(
      await runAction('rollback', { module: name }, { to, ...(withValues && { withValues: 'true' }) }),
    );
    changes.value += 1;
  };
  return (
    <>
      <button
        type="button"
        class="small"
        aria-label={`Roll back to ${title}`}
        disabled={refusal !== undefined}
        title={refusal}
        onClick={() => setAsking(true)}
      >
        Roll back …
      </button>
      <output class={result?.isError === true ? 'bad' : 'dim'}>{result?.text}</output>
      {isAsking && (
        <RollBackDialog
          name={name}
          title={title}
          hasValues={hasValues}
          onEnd={(withValues) => {
            setAsking(false);
            if (withValues !== undefined) void rollBack(withValues);
          }}
        />
      )}
    </>
  );
}

function RollBackDialog({
  name,
  title,
  hasValues,
  onEnd,
}: {
  name: string;
  title: string;
  hasValues: boolean;
  /** Undefined when it was cancelled. */
  onEnd: (withValues: boolean | undefined) => void;
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [withValues, setWithValues] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="roll-back" onCancel={() => onEnd(undefined)}>
      <h2 id="roll-back">
        Roll {name} back to {title}
      </h2>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          onEnd(withValues);
        }}
      >
        <p>The objects of the module become those of {title}. CRDs stay as they are.</p>
        <label>
          <input
            type="checkbox"
            disabled={!hasValues}
            checked={withValues}
            onChange={(event) => setWithValues(event.currentTarget.checked)}
          />{' '}
          {hasValues
            ? 'Also restore its section of the ConfigMap from then'
            : 'Its section of the ConfigMap from then is not known'}
        </label>
        <div class="row">
          <button type="button" onClick={() => onEnd(undefined)}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Roll back
          </button>
        </div>
      </form>
    </dialog>
  );
}
