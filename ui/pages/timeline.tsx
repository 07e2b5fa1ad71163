/** The page "Timeline": the runs of modules within the last hours as bars, with what happened beside them. */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { changes } from '../lib/live.ts';
import { pathTo } from '../lib/places.ts';
import type { Timeline } from '../lib/responses.ts';
import { durationText } from '../lib/time-text.ts';
import { useResponse } from '../lib/use-response.ts';
import { counted, pathToModule, pathToRun, titleOf } from '../parts/names.ts';
import { Shown } from '../parts/response.tsx';
import { kindOf, RUN_KINDS, Sign, type SignName } from '../parts/sign.tsx';
import { Card, Clock, Empty, Link, Title } from '../parts/text.tsx';

const HOURS = [1, 6, 24];
const HEIGHT = 18;
/** Percent of the width, so that a short run can be seen. */
const LEAST = 0.5;
const TICKS = 6;
/** Heights by result, so that colours are not needed. */
const SHARES: Readonly<Partial<Record<string, number>>> = { failed: 1, running: 0.8, success: 0.5 };
const OTHER_SHARE = 0.25;

type Mark = Timeline['marks'][number];
type Run = Timeline['modules'][number]['runs'][number];

const MARK_SIGNS: Readonly<Record<Mark['kind'], SignName>> = {
  start: 'play',
  outage: 'alert',
  config: 'dash',
  files: 'circle',
  version: 'arrow',
};

/** Where a time is in the period, in percent. */
type Scale = (at: number) => number;

export function TimelinePage(): VNode {
  const [hours, setHours] = useState(1);
  const responded = useResponse<Timeline>(pathTo(['timeline'], { hours: String(hours) }), changes.value);
  return (
    <>
      <Title note="Runs of modules, and edits, versions, starts and outages beside them.">Timeline</Title>
      <div class="filters">
        <label class="field">
          <span>Period</span>
          <select
            value={String(hours)}
            onChange={({ currentTarget }) => setHours(Number(currentTarget.value))}
          >
            {HOURS.map((each) => (
              <option key={each} value={String(each)}>
                last {each === 1 ? 'hour' : `${each} hours`}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Shown responded={responded}>{(timeline) => <Chart timeline={timeline} />}</Shown>
    </>
  );
}

function Chart({ timeline }: { timeline: Timeline }): VNode {
  const { from, to, modules, marks, isComplete } = timeline;
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const scale: Scale = (at) => Math.min(100, Math.max(0, (100 * (at - fromMs)) / (toMs - fromMs)));
  return (
    <>
      <Card title="Runs by module" more={isComplete ? undefined : <span class="dim">the newest 1,000</span>}>
        {modules.length === 0 ? (
          <Empty>No module ran within this time.</Empty>
        ) : (
          <div class="timeline">
            <span />
            <Axis fromMs={fromMs} toMs={toMs} />
            <span class="label dim">marks</span>
            <MarkTrack marks={marks} scale={scale} />
            {modules.map(({ module, runs }) => (
              <Row key={module} module={module} runs={runs} marks={marks} scale={scale} />
            ))}
          </div>
        )}
        <Legend />
      </Card>
      <MarkList marks={marks} />
    </>
  );
}

function Axis({ fromMs, toMs }: { fromMs: number; toMs: number }): VNode {
  return (
    <svg class="axis" width="100%" height={HEIGHT} aria-hidden="true">
      {Array.from({ length: TICKS }, (_, index) => (
        <text key={index} x={`${(100 * index) / TICKS}%`} y={HEIGHT - 5}>
          {new Date(fromMs + ((toMs - fromMs) * index) / TICKS).toLocaleTimeString([], {
            hourCycle: 'h23',
            hour: '2-digit',
            minute: '2-digit',
          })}
        </text>
      ))}
    </svg>
  );
}

/** The module with its runs; lines are marks that concern it, or all modules. */
function Row({
  module,
  runs,
  marks,
  scale,
}: {
  module: string;
  runs: readonly Run[];
  marks: readonly Mark[];
  scale: Scale;
}): VNode {
  const failures = runs.filter(({ result }) => result === 'failed').length;
  // Failures last, so that no other bar is in front of them.
  const drawn = [...runs].sort((a, b) => Number(a.result === 'failed') - Number(b.result === 'failed'));
  const shown = marks.filter((mark) => mark.module === '' || mark.module === module);
  return (
    <>
      <Link class="label" to={pathToModule(module)}>
        {module}
        <span class="unseen">{`: ${counted(runs.length, 'run')}, ${failures} failed`}</span>
      </Link>
      <svg width="100%" height={HEIGHT} aria-hidden="true">
        {shown.map((mark) => (
          <line
            key={mark.at + mark.kind}
            class="mark"
            x1={`${scale(Date.parse(mark.at))}%`}
            x2={`${scale(Date.parse(mark.at))}%`}
            y2={HEIGHT}
          />
        ))}
        {drawn.map((run) => (
          <Bar key={run.id} run={run} module={module} scale={scale} />
        ))}
      </svg>
    </>
  );
}

/** Out of the order of the keyboard: the page of the module lists the same runs. */
function Bar({ run, module, scale }: { run: Run; module: string; scale: Scale }): VNode {
  const { tone, word } = kindOf(RUN_KINDS, run.result);
  const startMs = Date.parse(run.startedAt);
  const width = Math.max(LEAST, scale(startMs + run.durationMs) - scale(startMs));
  const height = HEIGHT * (SHARES[run.result] ?? OTHER_SHARE);
  const title = `${titleOf({ ...run, module })} ${word} in ${durationText(run.durationMs)}, ${new Date(startMs).toLocaleTimeString([], { hourCycle: 'h23' })}`;
  return (
    <Link to={pathToRun(run)} tabindex={-1}>
      <rect
        class={tone}
        x={`${Math.min(100 - LEAST, scale(startMs))}%`}
        width={`${width}%`}
        y={HEIGHT - height}
        height={height}
      >
        <title>{title}</title>
      </rect>
    </Link>
  );
}

/** The marks in a row of their own, a span for what lasted. */
function MarkTrack({ marks, scale }: { marks: readonly Mark[]; scale: Scale }): VNode {
  return (
    <svg width="100%" height={HEIGHT} aria-hidden="true">
      {marks.map(({ kind, at, until, text, module }) => {
        const left = scale(Date.parse(at));
        const width = Math.max(LEAST, until === null ? 0 : scale(Date.parse(until)) - left);
        return (
          <rect
            key={at + kind + module}
            class={kind === 'outage' ? 'bad' : 'mark'}
            x={`${left}%`}
            width={`${width}%`}
            height={HEIGHT}
          >
            <title>{module === '' ? text : `${module}: ${text}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function Legend(): VNode {
  const results = ['success', 'failed', 'running', 'aborted'] as const;
  return (
    <ul class="legend">
      {results.map((result) => {
        const { tone, word } = RUN_KINDS[result];
        const height = HEIGHT * (SHARES[result] ?? OTHER_SHARE);
        return (
          <li key={result} class="row start timeline-key">
            <svg width="8" height={HEIGHT} aria-hidden="true">
              <rect class={tone} y={HEIGHT - height} width="8" height={height} />
            </svg>
            {result === 'aborted' ? 'aborted, skipped or runs again' : word}
          </li>
        );
      })}
    </ul>
  );
}

/** The marks in words, the newest first. */
function MarkList({ marks }: { marks: readonly Mark[] }): VNode {
  return (
    <Card title="What happened beside the runs">
      {marks.length === 0 ? (
        <Empty>No edit, no new version, no start and no outage within this time.</Empty>
      ) : (
        <ul class="next">
          {marks.toReversed().map(({ kind, at, until, text, module }) => (
            <li key={at + kind + module}>
              <Sign name={MARK_SIGNS[kind]} tone={kind === 'outage' ? 'bad' : 'off'} />
              <span class="main">
                {module !== '' && (
                  <>
                    <Link to={pathToModule(module)}>{module}</Link>
                    {': '}
                  </>
                )}
                {text}
                {until !== null && ` for ${durationText(Date.parse(until) - Date.parse(at))}`}
              </span>
              <span class="when">
                <Clock at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
