/** The pages "Queues" and of one queue. Both come from the stream, which has the first tasks of each queue. */

import type { VNode } from 'preact';
import { type EqualTasks, equalTasks } from '../../src/status/equal-tasks.ts';
import { live } from '../lib/live.ts';
import { pathTo, pathToRef } from '../lib/places.ts';
import { problemOf } from '../lib/problems.ts';
import type { QueueResponse, TaskView } from '../lib/responses.ts';
import { location } from '../lib/site.ts';
import { ActionButtons } from '../parts/action-buttons.tsx';
import { TextFilter } from '../parts/filter.tsx';
import { counted } from '../parts/names.ts';
import { ProblemNotes } from '../parts/problem.tsx';
import { capital, Sentence } from '../parts/sentence.tsx';
import { QueueState, TaskText } from '../parts/tasks.tsx';
import { Card, Empty, Link, Time, Title } from '../parts/text.tsx';

const PARALLEL_PREFIX = 'parallel_queue_';

/** All queues: those with tasks first, with what they do. */
export function QueuesPage(): VNode {
  const all = [...live.value.queues.values()];
  const text = (location.value.query.get('q') ?? '').toLowerCase();
  const shown = all.filter(({ name }) => name.toLowerCase().includes(text));
  const busy = shown.filter(isBusy);
  const empty = shown.filter((queue) => !isBusy(queue));
  // There are twenty of them, and they say nothing while they are empty.
  const idle = empty.filter(({ name }) => text !== '' || !name.startsWith(PARALLEL_PREFIX));
  const hidden = empty.length - idle.length;
  return (
    <>
      <Title
        note={`${counted(all.length, 'queue')}, ${busy.length} with tasks. A queue runs one task at a time, in order.`}
      >
        Queues
      </Title>
      <div class="filters">
        <TextFilter name="q" label="Name" />
      </div>
      {busy.length === 0 && (
        <Empty>{live.value.isReady ? 'No task is waiting or running.' : 'Reading …'}</Empty>
      )}
      {busy.map((queue) => (
        <QueueCard key={queue.name} queue={queue} />
      ))}
      {empty.length > 0 && (
        <Card title="Empty">
          <ul class="chips">
            {idle.map(({ name }) => (
              <li key={name}>
                <Link class="name" to={pathTo(['queues', name])}>
                  {name}
                </Link>
              </li>
            ))}
            {hidden > 0 && (
              <li>
                <Link to={pathTo(['queues'], { q: PARALLEL_PREFIX })}>{hidden} for parallel modules</Link>
              </li>
            )}
          </ul>
        </Card>
      )}
    </>
  );
}

/** Tasks of keys are in queues of their own. */
function isBusy({ length, keys }: QueueResponse): boolean {
  return length > 0 || keys > 0;
}

const SHOWN_TASKS = 3;

/** A busy queue with its first tasks. */
function QueueCard({ queue }: { queue: QueueResponse }): VNode {
  const shown = equalTasks(queue.tasks).slice(0, SHOWN_TASKS);
  const rest = queue.length - shown.reduce((sum, { count }) => sum + count, 0);
  return (
    <section class="card">
      <header>
        <h2>
          <Link class="name" to={pathTo(['queues', queue.name])}>
            {queue.name}
          </Link>
        </h2>
        <QueueState status={queue.status} />
      </header>
      <Keys queue={queue} />
      <HeadNotes queue={queue} />
      <Tasks groups={shown} />
      {rest > 0 && (
        <p>
          <Link to={pathTo(['queues', queue.name])}>{counted(rest, 'more task')}</Link>
        </p>
      )}
    </section>
  );
}

/** Since when its first task fails or runs, what to do, and buttons. */
function HeadNotes({ queue: { name, status } }: { queue: QueueResponse }): VNode | null {
  const problem = problemOf(live.value.headline?.details ?? [], { queue: name });
  if (problem !== undefined) return <ProblemNotes problem={problem} on={{ queue: name }} />;
  // The status names only the first problems.
  return status.type === 'delayed' ? <ActionButtons actions={['retry']} target={{ queue: name }} /> : null;
}

/** How many keys have tasks: a list of queues has only some of them. */
function Keys({ queue: { name, keys } }: { queue: QueueResponse }): VNode | null {
  if (keys === 0) return null;
  return (
    <p>
      <Link to={pathTo(['queues'], { q: `${name}[` })}>{counted(keys, 'key')} with tasks</Link>
    </p>
  );
}

/** One queue with all its tasks. */
export function QueuePage({ name }: { name: string }): VNode {
  const queue = live.value.queues.get(name);
  const title = <Title note={<Link to="queues">All queues</Link>}>Queue {name}</Title>;
  if (queue === undefined)
    return (
      <>
        {title}
        <Empty>{live.value.isReady ? 'This queue does not exist, or no longer exists.' : 'Reading …'}</Empty>
      </>
    );
  return (
    <>
      {title}
      <Card title={counted(queue.length, 'task')} more={<QueueState status={queue.status} />}>
        <Keys queue={queue} />
        <HeadNotes queue={queue} />
        {queue.length === 0 ? (
          <Empty>No task is waiting or running here.</Empty>
        ) : (
          <Tasks groups={equalTasks(queue.tasks)} />
        )}
        {queue.more > 0 && <p class="dim">and {counted(queue.more, 'task')} that are not listed</p>}
      </Card>
      <p>
        <Link to={pathTo(['runs'], { queue: name })}>Runs of this queue</Link>
      </p>
    </>
  );
}

/** Tasks in order, equal ones once, the first one with everything that is known about it. */
function Tasks({ groups }: { groups: readonly EqualTasks<TaskView>[] }): VNode {
  return (
    <ol class="tasks">
      {groups.map(({ task, count }) => (
        <li key={task.id}>
          <TaskText task={task} />
          {count > 1 && (
            <p>
              <strong>×{count}</strong> <span class="dim">equal tasks, the first one of them:</span>
            </p>
          )}
          <Waits task={task} />
          <p class="dim">
            {task.trigger !== '' && <>{capital(task.trigger)} · </>}
            {task.triggeredBy !== null && <>caused by {task.triggeredBy.hook} · </>}
            {task.eventId !== '' && (
              <>
                <Link to={pathTo(['runs'], { event: task.eventId })}>its event</Link> ·{' '}
              </>
            )}
            {task.failures === 0 ? 'queued' : 'last attempt'} <Time at={task.queuedAt} />
          </p>
        </li>
      ))}
    </ol>
  );
}

/** The reasons why a task waits, the nearest first. */
function Waits({ task }: { task: TaskView }): VNode | null {
  if (task.waits.length === 0) return null;
  return (
    <ul class="waits">
      {task.waits.map((wait) => {
        const path = wait.for === 'module' && wait.ref !== null ? pathToRef(`module/${wait.ref}`) : undefined;
        return (
          <li key={wait.text}>
            <Sentence text={wait.text} />
            {wait.until !== null && (
              <>
                {' '}
                · <Time at={wait.until} kind="until" />
              </>
            )}
            {path !== undefined && (
              <>
                {' '}
                · <Link to={path}>{wait.ref}</Link>
              </>
            )}
          </li>
        );
      })}
    </ul>
  );
}
