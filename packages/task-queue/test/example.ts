import { systemClock } from '@addon-operator/base/clock';
import { QueueSet } from '@addon-operator/task-queue/queue-set';

const stop = new AbortController();
const queues = new QueueSet<string>({
  clock: systemClock,
  random: Math.random,
  onFailure: (queue, { task }, { error }) => console.log(`${queue}: ${task} failed: ${String(error)}`),
});
queues.get('main').append('install');
queues.get('main').append('check');

queues.start(
  ({ task, failures }) => {
    console.log(`${task}, failed attempts: ${failures}`);
    if (task === 'install') return Promise.resolve({ type: 'success', after: ['wait'] });
    if (task === 'check' && failures === 0)
      return Promise.resolve({ type: 'retry', error: new Error('not ready'), delayMs: 1 });
    if (task === 'check') stop.abort();
    return Promise.resolve({ type: 'success' });
  },
  { stop: stop.signal, abort: new AbortController().signal },
);
await queues.ended();
