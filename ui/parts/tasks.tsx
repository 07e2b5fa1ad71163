/** Parts that show queues and tasks. */

import type { VNode } from 'preact';
import { pathTo } from '../lib/places.ts';
import type { QueueResponse, TaskView } from '../lib/responses.ts';
import { taskName } from '../lib/task-names.ts';
import { counted, pathToModule, titleOf } from './names.ts';
import { Badge, kindOf, QUEUE_KINDS } from './sign.tsx';
import { Link, Time } from './text.tsx';

/** The state of the worker of a queue, with the relevant time. */
export function QueueState({ status }: { status: QueueResponse['status'] }): VNode {
  const kind = kindOf(QUEUE_KINDS, status.type);
  return (
    <span class="state">
      <Badge kind={kind} />
      {status.type === 'delayed' && status.until !== null ? (
        <strong class="count">
          <Time at={status.until} kind="until" />
        </strong>
      ) : (
        status.since !== null &&
        status.type !== 'waiting' && (
          <Time at={status.since} kind={status.type === 'running' ? 'for' : 'ago'} />
        )
      )}
    </span>
  );
}

/** A queue with its first task, and those that follow. */
export function QueueHead({ queue }: { queue: QueueResponse }): VNode {
  const [head] = queue.tasks;
  return (
    <li class="queue">
      <div class="row">
        <Link class="name" to={pathTo(['queues', queue.name])}>
          {queue.name}
        </Link>
        <QueueState status={queue.status} />
      </div>
      {head !== undefined && <TaskText task={head} />}
      {queue.length > 1 && <p class="dim">{counted(queue.length - 1, 'task')} behind it</p>}
    </li>
  );
}

/** A task, why it was made, what it waits for and how it failed. */
export function TaskText({ task }: { task: TaskView }): VNode {
  return (
    <div class="task">
      <p>
        {task.module !== '' && task.hook === '' ? (
          <>
            <span title={task.type}>{taskName(task.type)}</span>{' '}
            <Link to={pathToModule(task.module)}>{task.module}</Link>
          </>
        ) : (
          <span title={task.type}>{titleOf(task)}</span>
        )}
        {task.failures > 0 && <span class="bad"> · failed {counted(task.failures, 'time')}</span>}
      </p>
      {task.lastError !== '' && <p class="error">{task.lastError}</p>}
    </div>
  );
}
