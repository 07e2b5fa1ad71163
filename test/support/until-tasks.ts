import { expect, vi } from 'vitest';
import type { World } from './world.ts';

/** Waits until a queue holds so many tasks: of events that are queued in a row only the first has a log record. */
export async function untilTasks({ daemon }: World, queue: string, count: number): Promise<void> {
  const { queues } = daemon.operator;
  await vi.waitFor(() => expect(queues.get(queue).length).toBe(count), { timeout: 60_000, interval: 10 });
}
