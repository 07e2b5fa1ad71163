/** The first page: headline, modules by state, busy queues, next things, last runs. All of it comes from the stream. */

import type { VNode } from 'preact';
import { live } from '../lib/live.ts';
import { pathTo } from '../lib/places.ts';
import type { HeadlineResponse, ModuleStatus } from '../lib/responses.ts';
import { splitReason } from '../lib/time-text.ts';
import { ActionButtons } from '../parts/action-buttons.tsx';
import { counted } from '../parts/names.ts';
import { NextList } from '../parts/next-list.tsx';
import { ProblemNotes } from '../parts/problem.tsx';
import { RunsTable } from '../parts/runs.tsx';
import { Countdown, Sentence } from '../parts/sentence.tsx';
import { kindOf, MODULE_KINDS, Sign, type SignName, type Tone } from '../parts/sign.tsx';
import { QueueHead } from '../parts/tasks.tsx';
import { Card, Empty, Link } from '../parts/text.tsx';

/** How each level of the headline looks, and its word. */
const LEVELS: Readonly<Record<HeadlineResponse['level'], { tone: Tone; sign: SignName; word: string }>> = {
  well: { tone: 'ok', sign: 'check', word: 'All is well' },
  notice: { tone: 'ok', sign: 'check', word: 'Notice' },
  waiting: { tone: 'wait', sign: 'clock', word: 'Waiting' },
  broken: { tone: 'bad', sign: 'alert', word: 'Needs attention' },
};
const READING = 'Reading …';
const SHOWN_PROBLEMS = 6;
const SHOWN_RUNS = 10;
const SHOWN_NEXT = 5;

/** The state of everything at a glance. */
export function NowPage(): VNode {
  const state = live.value;
  const busy = [...state.queues.values()].filter(({ length }) => length > 0);
  const runs = [...state.runs.values()].reverse().slice(0, SHOWN_RUNS);
  return (
    <>
      <Headline data={state.headline} />
      <ModuleBar />
      <div class="columns">
        <Card title="Queues" more={<Link to="queues">all {state.queues.size}</Link>}>
          {busy.length === 0 ? (
            <Empty>{state.isReady ? 'No task is waiting or running.' : READING}</Empty>
          ) : (
            <ul class="plain">
              {busy.map((queue) => (
                <QueueHead key={queue.name} queue={queue} />
              ))}
            </ul>
          )}
        </Card>
        <Card title="Next" more={<Link to="next">next 24 hours</Link>}>
          {state.next.length === 0 ? (
            <Empty>
              {state.isReady ? 'Nothing is scheduled. The operator acts when something changes.' : READING}
            </Empty>
          ) : (
            <NextList items={state.next.slice(0, SHOWN_NEXT)} />
          )}
        </Card>
      </div>
      <Card title="Last runs" more={<Link to="runs">all</Link>}>
        {runs.length === 0 ? (
          <Empty>{state.isReady ? 'Nothing has run since the operator started.' : READING}</Empty>
        ) : (
          <RunsTable runs={runs} caption="The last ten runs" />
        )}
      </Card>
    </>
  );
}

/** The most important problem in large letters, its reason below, then further problems. */
function Headline({ data }: { data: HeadlineResponse | undefined }): VNode {
  if (data === undefined)
    return (
      <section class="headline off" aria-busy="true">
        <h1 tabIndex={-1}>Reading the state of the operator …</h1>
      </section>
    );
  const { level, text, problems, details, more } = data;
  const [first] = details;
  const { tone, sign, word } = LEVELS[level];
  const [sentence, reason] = splitReason(text);
  const others = problems.slice(1);
  const hidden = Math.max(0, others.length - SHOWN_PROBLEMS) + more;
  return (
    <section class={`headline ${tone}`}>
      <span class="disc">
        <Sign name={sign} />
      </span>
      <div>
        <p class="level">{word}</p>
        <h1 tabIndex={-1}>
          <Countdown text={level === 'well' ? text.replace(/^all is well: /, '') : sentence} at={data.at} />
        </h1>
        {level !== 'well' && reason !== '' && (
          <p class="reason cut">
            <Sentence text={reason} />
          </p>
        )}
        {first !== undefined && <ProblemNotes problem={first} />}
        {others.length > 0 && (
          <ul class="problems">
            {others.slice(0, SHOWN_PROBLEMS).map((text, index) => {
              const problem = details[index + 1];
              return (
                // oxlint-disable-next-line react/no-array-index-key -- its sentence counts down, and a dialog may be open
                <li key={index}>
                  <p class="cut">
                    <Countdown text={text} at={data.at} />
                  </p>
                  {problem !== undefined && <ProblemNotes problem={problem} isBrief />}
                </li>
              );
            })}
            {hidden > 0 && <li>and {hidden} more</li>}
          </ul>
        )}
      </div>
    </section>
  );
}

/** How many modules are in which state, as a bar and as links. */
function ModuleBar(): VNode | null {
  const modules = [...live.value.modules.values()];
  if (modules.length === 0) return null;
  const counts = new Map<ModuleStatus, number>();
  for (const { status } of modules) counts.set(status, (counts.get(status) ?? 0) + 1);
  const known = Object.keys(MODULE_KINDS) as ModuleStatus[];
  const shown = known.filter((status) => counts.has(status));
  return (
    <section class="modules" aria-label="Modules">
      <svg class="bar" height="8" width="100%" aria-hidden="true">
        {segments(shown.map((status) => [status, counts.get(status) ?? 0]))}
      </svg>
      <ul class="legend">
        <li>
          <Link to="modules">{counted(modules.length, 'module')}</Link>
        </li>
        {shown.map((status) => {
          const { tone, sign, word } = kindOf(MODULE_KINDS, status);
          return (
            <li key={status}>
              <Link to={pathTo(['modules'], { status })}>
                <Sign name={sign} tone={tone} />
                {counts.get(status)} {word}
              </Link>
            </li>
          );
        })}
      </ul>
      <PauseAll />
    </section>
  );
}

/** The end of such a pause is offered with the problem that it is. */
function PauseAll(): VNode | null {
  const isPaused = live.value.headline?.details.some(({ actions }) => actions.includes('resume-all')) ?? true;
  return isPaused ? null : <ActionButtons actions={['pause-all']} target={{}} />;
}

/** The bar: one rectangle for each state, as wide as its share of the modules. */
function segments(counts: readonly (readonly [ModuleStatus, number])[]): VNode[] {
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  let start = 0;
  return counts.map(([status, count]) => {
    const share = (count / all) * 100;
    const x = start;
    start += share;
    return (
      <rect
        key={status}
        class={kindOf(MODULE_KINDS, status).tone}
        x={`${x}%`}
        width={`${share}%`}
        height="8"
      />
    );
  });
}
