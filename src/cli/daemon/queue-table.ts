import { fieldsOf, stringOf, stringsOf } from '@addon-operator/json';
import { headlineOf } from '@addon-operator/strings/headline';
import { type ComparedTask, equalTasks } from '../../status/equal-tasks.ts';
import { type UnfinishedSentences, unfinishedText } from '../../status/unfinished-text.ts';
import { listOf, type ToTable } from '../output/tables.ts';
import { ageCell, type Now, untilCell } from '../output/time-cells.ts';
import { recordedRunTitle } from './run-tables.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Which queues a table has. */
export interface QueueChoice {
  /** Only these queues; empty: all. */
  readonly names: readonly string[];
  readonly isEmptyShown: boolean;
}

/** The tasks of queues, of equal ones that wait the first with their number. */
export function queuesTable({ names, isEmptyShown }: QueueChoice): ToTable {
  return (data, now) => {
    const queues = listOf(fieldsOf(data)['queues']).filter((queue) => {
      const name = stringOf(queue['name']);
      if (names.length > 0 && !names.includes(name)) return false;
      // Queues for modules that run in parallel exist all the time.
      return listOf(queue['tasks']).length > 0 || (isEmptyShown && !name.startsWith('parallel_queue_'));
    });
    return {
      columns: ['QUEUE', '#', 'TASK', 'SINCE', 'TRIES', 'NEXT', 'ERROR', 'TRIGGER', 'EVENT', 'WAITS FOR'],
      narrow: 7,
      rows: queues.flatMap((queue) => queueRows(queue, now)),
      names: queues.map((queue) => stringOf(queue['name'])),
      ifEmpty: 'no task is queued',
      below: unfinishedText(unfinishedIn(data)),
    };
  };
}

function unfinishedIn(data: unknown): UnfinishedSentences {
  const { waiting, debounced, failed } = fieldsOf(data);
  return { waiting: stringsOf(waiting), debounced: stringsOf(debounced), failed: stringsOf(failed) };
}

function queueRows(queue: Fields, now: Now): (readonly string[])[] {
  const name = stringOf(queue['name']);
  const tasks = listOf(queue['tasks']);
  if (tasks.length === 0) return [[name, '-', 'empty', '', '', '', '', '', '', '']];
  const status = fieldsOf(queue['status']);
  const rows = equalTasks(tasks.map(comparedTask)).map(({ task, place, count }) => {
    const { failures } = task;
    const title = `${recordedRunTitle(task)}${count > 1 ? ` ×${count}` : ''}`;
    const waits = listOf(task['waits']).map((wait) => stringOf(wait['text']));
    return [
      name,
      String(place),
      title,
      // Of the running task: since when it runs.
      ageCell(stringOf(isRunning(status, place) ? status['since'] : task['queuedAt']), now),
      failures === 0 ? '' : String(failures),
      place === 1 ? nextCell(status, now) : '',
      headlineOf(stringOf(task['lastError'])),
      stringOf(task['trigger']),
      stringOf(task['eventId']),
      waits.join('; '),
    ];
  });
  const more = Number(queue['more'] ?? 0);
  return more === 0 ? rows : [...rows, [name, '…', `${more} more`, '', '', '', '', '', '', '']];
}

function isRunning(status: Fields, place: number): boolean {
  return place === 1 && status['type'] === 'running';
}

/** What happens to the first task next. */
function nextCell(status: Fields, now: Now): string {
  const type = stringOf(status['type']);
  if (type === 'delayed') return untilCell(stringOf(status['until']), now);
  return type === 'running' ? 'runs' : type === 'repeating' ? 'waits' : '';
}

/** A task as the API returns it, with the fields that make it equal to others. */
function comparedTask(task: Fields): Fields & ComparedTask {
  const [type = '', module = '', hook = '', binding = '', trigger = ''] = [
    'type',
    'module',
    'hook',
    'binding',
    'trigger',
  ].map((field) => stringOf(task[field]));
  return { ...task, type, module, hook, binding, trigger, failures: Number(task['failures']) };
}
