/** What is known of a problem besides its sentence: since when, where, what to do, and buttons. */

import type { VNode } from 'preact';
import { pathTo, pathToRef } from '../lib/places.ts';
import type { ProblemPlace } from '../lib/problems.ts';
import type { Problem } from '../lib/responses.ts';
import { ActionButtons } from './action-buttons.tsx';
import { pathToModule } from './names.ts';
import { capital, Sentence } from './sentence.tsx';
import { Link, Time } from './text.tsx';

/** The same order everywhere: time and places, advice, buttons. */
export function ProblemNotes({
  problem,
  isBrief = false,
  on,
}: {
  problem: Problem;
  /** The place that the page is about, so that no link leads to it. */
  on?: ProblemPlace;
  /** Whether the advice has to be opened. Default false. */
  isBrief?: boolean;
}): VNode {
  const { advice, actions } = problem;
  const help = (
    <>
      {advice.length > 0 && (
        <ul class="advice">
          {advice.map((sentence) => (
            <li key={sentence}>
              <Sentence text={capital(sentence)} />
            </li>
          ))}
        </ul>
      )}
      <ActionButtons actions={actions} target={problem} />
    </>
  );
  return (
    <div class="notes">
      <ProblemPlaces problem={problem} on={on} />
      {isBrief && advice.length + actions.length > 0 ? (
        <details>
          <summary>What to do</summary>
          {help}
        </details>
      ) : (
        help
      )}
    </div>
  );
}

/** Since when, and links to what it concerns. */
function ProblemPlaces({
  problem,
  on = {},
}: {
  problem: Problem;
  on: ProblemPlace | undefined;
}): VNode | null {
  const { since, hook, run } = problem;
  const module = problem.module === on.module ? '' : problem.module;
  const queue = problem.queue === on.queue ? '' : problem.queue;
  if (since === null && module === '' && hook === '' && queue === '' && run === '') return null;
  return (
    <p class="places">
      {since !== null && (
        <span>
          <Time at={since} kind="for" />
        </span>
      )}
      {module !== '' && (
        <span>
          module <Link to={pathToModule(module)}>{module}</Link>
        </span>
      )}
      {hook !== '' && (
        <span>
          hook <Link to={pathToRef(`hook/${hook}`) ?? 'runs'}>{hook}</Link>
        </span>
      )}
      {queue !== '' && (
        <span>
          queue <Link to={pathTo(['queues', queue])}>{queue}</Link>
        </span>
      )}
      {run !== '' && <Link to={pathTo(['runs', run])}>run {run}</Link>}
    </p>
  );
}
