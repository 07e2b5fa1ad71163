/** The page of one run: cause and effects, facts, phases, output. It is read again after each change in the operator. */

import type { VNode } from 'preact';
import { changes, live } from '../lib/live.ts';
import { pathTo } from '../lib/places.ts';
import type { RunDetails, RunView } from '../lib/responses.ts';
import { bytesText, durationText } from '../lib/time-text.ts';
import { useResponse } from '../lib/use-response.ts';
import { ActionButtons } from '../parts/action-buttons.tsx';
import { counted, pathToModule, pathToRun, TRIGGERABLE, titleOf } from '../parts/names.ts';
import { Shown } from '../parts/response.tsx';
import { Badge, kindOf, RUN_KINDS } from '../parts/sign.tsx';
import { Card, Clock, Empty, Link, Output, Time, Title } from '../parts/text.tsx';

/** One run: what led to it, what it did and printed, and what it led to. */
export function RunPage({ id }: { id: string }): VNode {
  const responded = useResponse<RunDetails>(pathTo(['runs', id]), changes.value);
  if (responded.data === undefined && responded.error !== undefined)
    return (
      <>
        <Title note={<Link to="runs">All runs</Link>}>Run {id}</Title>
        <Empty>{responded.error.message}</Empty>
      </>
    );
  return <Shown responded={responded}>{(run) => <Details run={run} />}</Shown>;
}

/** Everything about a run whose data has arrived. */
function Details({ run }: { run: RunDetails }): VNode {
  return (
    <>
      <header class="title">
        <p>
          <Link to="runs">Runs</Link>
        </p>
        <div class="row start">
          <h1 tabIndex={-1} title={run.type}>
            {titleOf(run)}
          </h1>
          <Badge kind={kindOf(RUN_KINDS, run.result)} />
        </div>
        <p class="dim">
          Run {run.id}, attempt {run.attempt}, <Time at={run.startedAt} />
        </p>
        <RunActions run={run} />
      </header>
      {run.error !== '' && (
        <Card title={run.code === '' ? 'Error' : `Error ${run.code}`}>
          <Output label="Error">{run.error}</Output>
        </Card>
      )}
      <div class="columns uneven">
        <Card title="Cause and effects">
          <Chain run={run} />
        </Card>
        <Card title="Facts">
          <Facts run={run} />
        </Card>
      </div>
      {run.phases.length > 0 && (
        <Card title="Phases">
          <Phases run={run} />
        </Card>
      )}
      {run.hook !== '' && <Printed run={run} />}
    </>
  );
}

/** What can be done about a run that is in progress, or whose task waits for another attempt; else the hook is run again. */
function RunActions({ run }: { run: RunDetails }): VNode | null {
  const { module, hook, queue, result, bindings } = run;
  const [binding = ''] = bindings;
  const target = { module, queue, hook: module === '' ? hook : `${module}/${hook}`, binding };
  if (result === 'running')
    return hook === '' ? null : <ActionButtons actions={['abort-hook', 'drop-hook']} target={target} />;
  const waiting = live.value.queues.get(queue);
  const [head] = waiting?.tasks ?? [];
  const isHead = head?.module === module && (head.hook === hook || head.hook === '');
  if (result === 'failed' && waiting?.status.type === 'delayed' && isHead)
    return <ActionButtons actions={['retry']} target={target} />;
  const isTriggerable = hook !== '' && TRIGGERABLE.has(run.binding) && binding !== '';
  return isTriggerable ? <ActionButtons actions={['trigger-hook']} target={target} /> : null;
}

/** The output that is kept: its beginning and its end. */
function Printed({ run }: { run: RunDetails }): VNode {
  const { head, tail, cut } = run.output;
  return (
    <Card title="Output">
      {head === '' && tail === '' ? (
        <Empty>
          {run.outputLength > 0
            ? 'The output is no longer kept.'
            : run.result === 'running'
              ? 'The output is shown when the hook has ended.'
              : 'The hook printed nothing.'}
        </Empty>
      ) : (
        <>
          <Output label={cut > 0 ? 'Beginning of the output' : 'Output'}>
            {cut > 0 ? head : head + tail}
          </Output>
          {cut > 0 && (
            <>
              <p class="dim">{counted(cut, 'character')} left out</p>
              <Output label="End of the output">{tail}</Output>
            </>
          )}
        </>
      )}
    </Card>
  );
}

/** The runs of the event in order: causes, this one, effects. */
function Chain({ run }: { run: RunDetails }): VNode {
  return (
    <ol class="chain">
      {run.cause.map((cause) => (
        <ChainLink key={cause.id} run={cause} />
      ))}
      <li class="here" aria-current="true">
        <Badge kind={kindOf(RUN_KINDS, run.result)} /> <strong>{titleOf(run)}</strong>
        {run.trigger !== '' && <p class="dim">{run.trigger}</p>}
      </li>
      {run.effects.map((effect) => (
        <ChainLink key={effect.id} run={effect} />
      ))}
    </ol>
  );
}

/** One run of the chain, with a link to it. */
function ChainLink({ run }: { run: RunView }): VNode {
  return (
    <li>
      <Badge kind={kindOf(RUN_KINDS, run.result)} />{' '}
      <Link to={pathToRun(run)} title={run.type}>
        {titleOf(run)}
      </Link>
      <span class="dim">
        {run.attempt > 1 && ` attempt ${run.attempt},`} <Clock at={run.startedAt} />
      </span>
    </li>
  );
}

/** Times, place and event of the run. */
function Facts({ run }: { run: RunDetails }): VNode {
  return (
    <dl class="facts">
      {run.module !== '' && (
        <>
          <dt>Module</dt>
          <dd>
            <Link to={pathToModule(run.module)}>{run.module}</Link>
          </dd>
        </>
      )}
      {run.queue !== '' && (
        <>
          <dt>Queue</dt>
          <dd>
            <Link to={pathTo(['queues', run.queue])}>{run.queue}</Link>
          </dd>
        </>
      )}
      <dt>Waited</dt>
      <dd>{durationText(run.waitMs)}</dd>
      <dt>{run.result === 'running' ? 'Runs for' : 'Took'}</dt>
      <dd>{durationText(run.durationMs)}</dd>
      {run.hook !== '' && <HookFacts run={run} />}
      <dt>Event</dt>
      <dd>
        <Link to={pathTo(['runs'], { event: run.eventId })}>all its runs</Link>
        <p class="dim">
          <code>{run.eventId}</code> in the log
        </p>
      </dd>
    </dl>
  );
}

/** How the process of a hook ended, what it used, was given and wrote. */
function HookFacts({ run }: { run: RunDetails }): VNode {
  return (
    <>
      {run.exitCode !== null && (
        <>
          <dt>Exit code</dt>
          <dd>{run.exitCode}</dd>
        </>
      )}
      {run.signal !== '' && (
        <>
          <dt>Killed by</dt>
          <dd>{run.signal}</dd>
        </>
      )}
      {run.cpuMs !== null && (
        <>
          <dt>CPU</dt>
          <dd>{durationText(run.cpuMs)}</dd>
        </>
      )}
      {run.maxRssBytes !== null && (
        <>
          <dt>Memory</dt>
          <dd>{bytesText(run.maxRssBytes)} at most</dd>
        </>
      )}
      {run.bindings.length > 0 && (
        <>
          <dt>Bindings</dt>
          <dd>{run.bindings.join(', ')}</dd>
        </>
      )}
      <dt>Contexts</dt>
      <dd>{run.contexts}</dd>
      <dt>Wrote</dt>
      <dd>
        {counted(run.patches.values, 'value')}, {counted(run.patches.objects, 'object')}
      </dd>
      {run.command !== '' && (
        <>
          <dt>Run it</dt>
          <dd>
            <code>{run.command}</code>
          </dd>
        </>
      )}
    </>
  );
}

/** Steps as bars on one time line, with their durations as text. */
function Phases({ run: { phases } }: { run: RunDetails }): VNode {
  const ends = phases.map((_, index) => phases.slice(0, index + 1).reduce((sum, { ms }) => sum + ms, 0));
  const all = Math.max(1, ends.at(-1) ?? 0);
  return (
    <table class="phases">
      <caption class="unseen">Phases with their durations</caption>
      <tbody>
        {phases.map(({ name, ms }, index) => (
          <tr key={`${name} ${ends[index]}`}>
            <th scope="row">{name}</th>
            <td class="main">
              <svg width="100%" height="8" aria-hidden="true">
                <rect
                  class="busy"
                  x={`${(((ends[index] ?? 0) - ms) / all) * 100}%`}
                  width={`${Math.max(0.4, (ms / all) * 100)}%`}
                  height="8"
                  rx="2"
                />
              </svg>
            </td>
            <td class="number">{durationText(ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
