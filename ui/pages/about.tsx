/** The page "About". It is read once: nothing on it changes often. */

import type { VNode } from 'preact';
import { changes } from '../lib/live.ts';
import { useMe } from '../lib/me.ts';
import type { AboutResponse, AuditResponse } from '../lib/responses.ts';
import { bytesText, durationText, spanText } from '../lib/time-text.ts';
import { useResponse } from '../lib/use-response.ts';
import { pathToModule } from '../parts/names.ts';
import { Shown } from '../parts/response.tsx';
import { Card, Clock, Empty, Link, Time, Title } from '../parts/text.tsx';

/** Which operator this is, with what it runs, and whether its watches are open. */
export function AboutPage(): VNode {
  const responded = useResponse<AboutResponse>('about');
  return (
    <>
      <Title>About</Title>
      <Shown responded={responded}>
        {(about) => (
          <>
            <div class="columns">
              <Card title="This operator">
                <Identity about={about} />
              </Card>
              <Card title="Process">
                <Process about={about} />
              </Card>
            </div>
            <Audit />
            <Card title="Parameters" more={<code class="dim">addon-operator config set</code>}>
              <Parameters parameters={about.parameters} />
            </Card>
            <Card title="Watches">
              <Watches watches={about.watches} />
            </Card>
          </>
        )}
      </Shown>
    </>
  );
}

/** Version, pod, role and start of the operator. */
function Identity({ about }: { about: AboutResponse }): VNode {
  const me = useMe();
  return (
    <dl class="facts">
      <dt>Version</dt>
      <dd>{about.version}</dd>
      {about.replica !== '' && (
        <>
          <dt>Replica</dt>
          <dd>{about.replica}</dd>
        </>
      )}
      <dt>Namespace</dt>
      <dd>{about.namespace}</dd>
      <dt>Role</dt>
      <dd>{about.role === 'leader' ? 'leader' : 'the only replica'}</dd>
      <dt>Start id</dt>
      <dd>
        <code>{about.bootId}</code>
      </dd>
      <dt>Clock</dt>
      <dd>
        <Clock at={about.at} />
      </dd>
      <dt>This page</dt>
      <dd>{about.allowsActions ? 'can act: run, pause, stop and more' : 'is read-only'}</dd>
      {me !== undefined && (
        <>
          <dt>Signed in as</dt>
          <dd>
            {me.user}
            {me.expiresAt !== null && (
              <>
                , until <Time at={me.expiresAt} />
              </>
            )}
          </dd>
        </>
      )}
    </dl>
  );
}

/** The last requests for actions. */
function Audit(): VNode {
  const responded = useResponse<AuditResponse>('audit', changes.value);
  return (
    <Card title="Actions" more={<span class="dim">the last 200 since the start</span>}>
      <Shown responded={responded}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty>Nothing has been requested on the page or over the API.</Empty>
          ) : (
            <table>
              <caption class="unseen">Requested actions, the newest first</caption>
              <thead>
                <tr>
                  <th scope="col">Action</th>
                  <th scope="col">Result</th>
                  <th scope="col" class="wide">
                    Message
                  </th>
                  <th scope="col">By</th>
                  <th scope="col" class="number">
                    Time
                  </th>
                </tr>
              </thead>
              <tbody>
                {entries.map(({ time, by, action, target, reason, result, message }) => (
                  <tr key={`${time} ${action} ${target}`}>
                    <th scope="row">
                      {action} <span class="dim">{target}</span>
                      {reason !== '' && <p class="dim">{reason}</p>}
                    </th>
                    <td class={result === 'accepted' ? 'word' : 'word bad'}>{result}</td>
                    <td class="wide dim">{message}</td>
                    <td class="word">{by}</td>
                    <td class="number">
                      <Time at={time} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Shown>
    </Card>
  );
}

/** Resource usage since the start. */
function Process({ about: { process } }: { about: AboutResponse }): VNode {
  const { uptimeMs, cpuMs, rssBytes, heapUsedBytes, eventLoopDelay, startedAt } = process;
  return (
    <dl class="facts">
      <dt>Started</dt>
      <dd>
        <Time at={startedAt} />
      </dd>
      <dt>CPU</dt>
      <dd>
        {durationText(cpuMs)} in {spanText(uptimeMs)}
      </dd>
      <dt>Memory</dt>
      <dd>
        {bytesText(rssBytes)}, including {bytesText(heapUsedBytes)} of heap
      </dd>
      <dt>Event loop</dt>
      <dd>
        delayed by {durationText(eventLoopDelay.meanMs)} on average, {durationText(eventLoopDelay.p99Ms)} at
        the 99th percentile
      </dd>
    </dl>
  );
}

/** Runtime parameters with their end, if they are temporary, and the error of the last change. */
function Parameters({ parameters }: { parameters: AboutResponse['parameters'] }): VNode {
  return (
    <table>
      <caption class="unseen">Runtime parameters</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
          <th scope="col" class="wide">
            What it does
          </th>
        </tr>
      </thead>
      <tbody>
        {parameters.map(({ name, value, description, expiresAt, lastError, ...parameter }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              {value}
              {value !== parameter.default && <p class="dim">instead of {parameter.default}</p>}
              {expiresAt !== null && (
                <p class="dim">
                  until <Time at={expiresAt} kind="until" />
                </p>
              )}
              {lastError !== '' && <p class="error">{lastError}</p>}
            </td>
            <td class="wide dim">{description}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The watches of hooks; "confirmed" is the age of the last news from the API server. */
function Watches({ watches }: { watches: AboutResponse['watches'] }): VNode {
  if (watches.length === 0) return <Empty>No hook has a kubernetes binding.</Empty>;
  return (
    <table>
      <caption class="unseen">Watches of hooks</caption>
      <thead>
        <tr>
          <th scope="col">Hook</th>
          <th scope="col">Kind</th>
          <th scope="col" class="wide">
            Binding
          </th>
          <th scope="col" class="number">
            Confirmed
          </th>
        </tr>
      </thead>
      <tbody>
        {watches.map(({ module, hook, binding, kind, ageMs, problem }) => (
          <tr key={`${module} ${hook} ${binding}`}>
            <th scope="row">
              {module !== '' && (
                <>
                  <Link to={pathToModule(module)}>{module}</Link>/
                </>
              )}
              {hook}
              {problem !== null && <p class="error">{problem}</p>}
            </th>
            <td class="word">{kind}</td>
            <td class="wide">{binding}</td>
            <td class="number">{ageMs === null ? 'never' : `${spanText(ageMs)} ago`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
