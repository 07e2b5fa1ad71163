import { retryDelayMs } from '@addon-operator/concurrency/backoff';
import { KeyedLock } from '@addon-operator/concurrency/keyed-lock';

const halfway = () => 0.5;
console.log([1, 2, 3].map((failures) => retryDelayMs(failures, halfway)));

const locks = new KeyedLock();
const order: string[] = [];
const { signal } = new AbortController();
await Promise.all(
  ['first', 'second'].map((name) =>
    locks.run('release web', signal, async () => {
      order.push(name);
    }),
  ),
);
console.log(order.join());
