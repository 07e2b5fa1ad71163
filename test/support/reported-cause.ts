import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { expect, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import type { WhyNode } from '../../src/status/cause.ts';
import { kstatusProblems } from './kstatus.ts';
import { eventsOf, modulePath, readModule } from './module-world.ts';
import type { World } from './world.ts';
import { runInWorld } from './world-command.ts';

const WAIT = { timeout: 60_000, interval: 200 };
/** How often the operator computes the status of a module that no task changes. Thirty real seconds on the clock of a test. */
const LOOK_MS = 10_000;
/** Not in each poll: other limits of ten seconds, such as that of a connection, end with the same call. */
const POLLS_PER_LOOK = 8;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export interface ReportedCause {
  /** Of the condition `Ready`. */
  readonly reason: string;
  /** A part of what is said about the cause everywhere. */
  readonly text: string;
  /** The kstatus condition that is true. */
  readonly kstatus: 'Stalled' | 'Reconciling' | 'Ready';
  /** Reason of the Event. */
  readonly event: string;
  /** The condition in the tree of the explanation that is false first. */
  readonly node: string;
}

/**
 * Waits until the Module and its Events name the cause, then expects it in everything else that says how a module is: the
 * row that `kubectl get modules` prints, `status`, `explain module`, and the tree of the API that the page shows.
 */
export async function untilReported(world: World, name: string, cause: ReportedCause): Promise<void> {
  const { reason, text, kstatus, event, node } = cause;
  let polls = 0;
  await vi.waitFor(async () => {
    polls += 1;
    if (polls % POLLS_PER_LOOK === 0) world.clock.wakeSleeps(LOOK_MS);
    const object = await readModule(world, name);
    const ready = object?.status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ reason, message: expect.stringContaining(text) });
    expect(object?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: kstatus, status: 'True' }),
    );
    expect(object && kstatusProblems(object)).toEqual([]);
    expect(await eventsOf(world, name)).toContainEqual(
      expect.objectContaining({ reason: event, message: expect.stringContaining(text) }),
    );
  }, WAIT);
  expect(await printedMessage(world, name)).toContain(text);
  const status = await runInWorld(world, 'status');
  expect(status.stdout).toContain(text);
  const { stdout } = await runInWorld(world, 'explain', 'module', name);
  expect(stdout.split('\n').find((line) => line.startsWith('held up by'))).toContain(text);
  const socketPath = join(world.directory, 'debug.socket');
  const { body } = await requestDebug({ socketPath, path: `/api/v1/modules/${name}` }, systemClock);
  const { why } = JSON.parse(body) as { readonly why: WhyNode };
  expect(why).toMatchObject({ ok: false, text: expect.stringContaining(text) });
  expect(why.children.find(({ ok }) => ok === false)).toMatchObject({
    id: node,
    text: expect.stringContaining(text),
  });
}

/** The cell MESSAGE of the table that `kubectl get modules` asks for. */
async function printedMessage(world: World, name: string): Promise<unknown> {
  const table = (await world.expect({ path: modulePath(name), accept: TABLE })) as {
    readonly columnDefinitions: readonly { readonly name: string }[];
    readonly rows: readonly { readonly cells: readonly unknown[] }[];
  };
  const column = table.columnDefinitions.findIndex((definition) => definition.name === 'Message');
  return table.rows[0]?.cells[column];
}
