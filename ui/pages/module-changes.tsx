/** The tab "Changes" of a module: a diff on request, drift, and the revisions of the release. */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { changes } from '../lib/live.ts';
import { useRefusals } from '../lib/me.ts';
import { pathTo } from '../lib/places.ts';
import type { DiffResponse, DriftResponse, HistoryResponse } from '../lib/responses.ts';
import { durationText } from '../lib/time-text.ts';
import { useResponse } from '../lib/use-response.ts';
import { ActionButtons } from '../parts/action-buttons.tsx';
import { Shown } from '../parts/response.tsx';
import { capital } from '../parts/sentence.tsx';
import { Card, Empty, Time } from '../parts/text.tsx';
import { DeliveredVersions, RollBack } from './module-versions.tsx';

/** Changes that the next run would make, changes by other clients, and changes of earlier runs. */
export function ChangesTab({ name }: { name: string }): VNode {
  const drift = useResponse<DriftResponse>(pathTo(['modules', name, 'drift']), changes.value);
  const history = useResponse<HistoryResponse>(pathTo(['modules', name, 'history']), changes.value);
  return (
    <>
      <NextRun name={name} />
      <Card title="Changed by others">
        <Shown responded={drift}>{(response) => <Drift name={name} drift={response.drift} />}</Shown>
      </Card>
      <Shown responded={history}>
        {({ revisions, versions }) => (
          <>
            <DeliveredVersions name={name} versions={versions} />
            <Card title="Revisions of the release">
              <Revisions name={name} revisions={revisions} hasVersions={versions.length > 0} />
            </Card>
          </>
        )}
      </Shown>
    </>
  );
}

/** Rendering takes a while, so it is done on request. */
function NextRun({ name }: { name: string }): VNode {
  const [wanted, setWanted] = useState(0);
  const responded = useResponse<DiffResponse>(
    wanted === 0 ? undefined : pathTo(['modules', name, 'diff']),
    wanted,
  );
  return (
    <Card title="What the next run would change">
      <p class="dim">
        The chart is rendered with the current values and compared with the objects in the cluster.
      </p>
      <p>
        <button type="button" class="action" onClick={() => setWanted(wanted + 1)}>
          {wanted === 0 ? 'Compare' : 'Compare again'}
        </button>
      </p>
      {wanted > 0 && (
        <Shown responded={responded}>
          {({ text, notes, tookMs }) => (
            <>
              <p class="dim">Compared in {durationText(tookMs)}.</p>
              {notes.map((note) => (
                <p key={note} class="wait">
                  {note}
                </p>
              ))}
              <Diff text={text} />
            </>
          )}
        </Shown>
      )}
    </Card>
  );
}

/** Lines of a unified diff; the signs at their beginnings say the same as their colours. */
function Diff({ text }: { text: string }): VNode {
  if (text.trim() === '' || text.trim() === 'No diff found') return <Empty>There is no difference.</Empty>;
  const lines = text.split('\n');
  return (
    <section class="output diff" tabIndex={0} aria-label="Changes">
      <pre>
        {lines.map((line, index) => {
          const tone = line.startsWith('+')
            ? 'ok'
            : line.startsWith('-')
              ? 'bad'
              : line.startsWith('@')
                ? 'busy'
                : '';
          // oxlint-disable-next-line react/no-array-index-key -- lines have no other name
          return <span key={index} class={tone}>{`${line}\n`}</span>;
        })}
      </pre>
    </section>
  );
}

/** Objects that other clients changed, with the fields and the field managers. */
function Drift({ name, drift }: { name: string; drift: DriftResponse['drift'] }): VNode {
  if (drift === null)
    return (
      <Empty>
        The objects are not watched: what others change stays, and what they delete is noticed within about
        five minutes. <code>{'drift: {mode: warn}'}</code> in module.yaml, or <code>--drift-mode</code> for
        all modules, changes that.
      </Empty>
    );
  if (drift.objects.length === 0 && (drift.uncompared ?? []).length === 0)
    return <Empty>No object has been changed since the last run.</Empty>;
  return (
    <>
      {drift.objects.length > 0 && <ActionButtons actions={['heal-drift']} target={{ module: name }} />}
      <ul class="plain">
        {drift.objects.map(({ resource, fields, changedBy, since, outlook, correction }) => (
          <li key={resource} class="item">
            <p>
              <code>{resource}</code> <span class="dim">by {changedBy.join(', ') || 'unknown'}</span>{' '}
              <Time at={since} />
            </p>
            <p>
              {fields.map((field) => (
                <code key={field} class="tag">
                  {field}
                </code>
              ))}
            </p>
            <p class="dim">
              {capital(outlook)} {correction !== undefined && <Time at={correction.at} kind="until" />}
            </p>
          </li>
        ))}
        {drift.uncompared?.map(({ resource, error }) => (
          <li key={resource} class="item">
            <code>{resource}</code>
            <p class="error">{error}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Revisions of the release; each can be compared with the one before it. */
function Revisions({
  name,
  revisions,
  hasVersions,
}: {
  name: string;
  revisions: HistoryResponse['revisions'];
  /** Its source leads back to versions, not to revisions. */
  hasVersions: boolean;
}): VNode {
  const [compared, setCompared] = useState<readonly [number, number]>();
  const refusal = useRefusals(name).get('rollback');
  if (revisions.length === 0) return <Empty>There is no release.</Empty>;
  return (
    <>
      <table>
        <caption class="unseen">Revisions, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">Revision</th>
            <th scope="col">Outcome</th>
            <th scope="col">Version</th>
            <th scope="col" class="wide">
              Description
            </th>
            <th scope="col" class="number">
              Deployed
            </th>
            <th scope="col">
              <span class="unseen">Difference and way back</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {revisions.map(
            ({ revision, outcome, status, reason, deployedAt, chart, version, ...more }, index) => {
              const before = revisions[index + 1]?.revision;
              return (
                <tr key={revision}>
                  <th scope="row">{revision}</th>
                  <td class="short" title={status}>
                    {outcome}
                  </td>
                  <td class="short" title={chart}>
                    {version}
                  </td>
                  <td class="wide main">{reason || more.description}</td>
                  <td class="number">{deployedAt !== null && <Time at={deployedAt} />}</td>
                  <td class="number">
                    {before !== undefined && (
                      <button
                        type="button"
                        class="small"
                        aria-label={`Compare revision ${revision} with ${before}`}
                        onClick={() => setCompared([before, revision])}
                      >
                        Compare
                      </button>
                    )}
                    {!hasVersions && outcome !== 'running' && outcome !== 'unfinished' && (
                      <RollBack
                        name={name}
                        to={String(revision)}
                        title={`revision ${revision}`}
                        hasValues={more.hasSection}
                        refusal={refusal}
                      />
                    )}
                  </td>
                </tr>
              );
            },
          )}
        </tbody>
      </table>
      {compared !== undefined && <RevisionDiff name={name} from={compared[0]} to={compared[1]} />}
    </>
  );
}

/** The difference of two revisions, read when it is requested. */
function RevisionDiff({ name, from, to }: { name: string; from: number; to: number }): VNode {
  const query = { from: String(from), to: String(to) };
  const responded = useResponse<HistoryResponse>(pathTo(['modules', name, 'history'], query));
  return (
    <>
      <h3>
        From revision {from} to {to}
      </h3>
      <Shown responded={responded}>{({ diff }) => <Diff text={diff?.text ?? ''} />}</Shown>
    </>
  );
}
