import { assert, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import { act, anyOptions, anySteps, HOOKS, MODULES } from '../../test/support/operator-histories.ts';
import { moduleFor, operatorLab } from '../../test/support/operator-lab.ts';
import { type RecordedSpan, RecordingTracer } from '../../test/support/recording-tracer.ts';
import { shutDown, startUp } from '../operator/lifecycle.ts';

test('in any history each span is in the trace and the time of its parent, and waits end where attempts begin', async () => {
  await assert(
    asyncProperty(anyOptions, anySteps, async (options, steps) => {
      const tracer = new RecordingTracer();
      const modules = MODULES.map((module) => moduleFor(module, 1));
      const lab = await operatorLab(modules, HOOKS, { ...options, tracer });
      tracer.nowMs = () => lab.clock.steadyMs();
      startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
      for (const [what, turns] of steps) {
        await act(lab, what);
        await lab.turns(turns);
      }
      await lab.pass(300_000, 3);
      await lab[Symbol.asyncDispose]();
      await shutDown(lab.operator);
      const { spans } = tracer;
      expect(spans.filter(({ endMs }) => endMs === undefined).map(({ name }) => name)).toEqual([]);
      expect(spans.flatMap(problemsOf)).toEqual([]);
      const attempts = spans.filter(({ name }) => name.startsWith('task '));
      const runs = lab.journal
        .list({ limit: 10_000 })
        .runs.filter(({ parent, taskId }) => parent === null && taskId !== '');
      expect(attempts.length).toBe(runs.length);
      expect(new Set(attempts.map(({ context }) => context.traceId))).toEqual(
        new Set(runs.map(({ traceId }) => traceId)),
      );
      for (const attempt of attempts) {
        const [wait] = spans.filter(({ parent }) => parent === attempt);
        expect([wait?.name, wait?.beganMs]).toEqual(['queue wait', attempt.beganMs]);
        const rest = spans.filter((span) => span.parent === attempt && span !== wait);
        expect(rest.filter(({ beganMs }) => beganMs < (wait?.endMs ?? 0))).toEqual([]);
      }
      const known = new Set(spans.map(({ context }) => context.spanId));
      const links = spans.flatMap((span) => span.links ?? []);
      expect(links.filter(({ spanId }) => !known.has(spanId))).toEqual([]);
    }),
    { numRuns: 20, interruptAfterTimeLimit: 30_000 },
  );
}, 120_000);

/** An event is a moment: what it led to comes after it. */
function problemsOf({ name, context, parent, beganMs, endMs = 0 }: RecordedSpan): string[] {
  if (parent === undefined)
    return name.startsWith('event ') || name.startsWith('task ') ? [] : [`${name} is a root`];
  const isIn =
    beganMs >= parent.beganMs && (parent.name.startsWith('event ') || endMs <= (parent.endMs ?? 0));
  return [
    ...(parent.context.traceId === context.traceId ? [] : [`${name} is in another trace than its parent`]),
    ...(isIn && endMs >= beganMs
      ? []
      : [`${name} ${beganMs}-${endMs} is outside of ${parent.name} ${parent.beganMs}-${parent.endMs}`]),
  ];
}
