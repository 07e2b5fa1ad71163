import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { attributeOf, OtlpReceiver } from '../support/otlp-receiver.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

/** Prints its span, and sends a span of its own below it, as a program with OpenTelemetry would. */
const HOOK = shHook(
  'onStartup: 1',
  `echo "TRACEPARENT=$TRACEPARENT"
IFS=- read -r _ trace parent _ <<EOT
$TRACEPARENT
EOT
now=$(date +%s)000000000
printf '{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"00000000000000aa","parentSpanId":"%s","name":"in the hook","kind":1,"startTimeUnixNano":"%s","endTimeUnixNano":"%s","attributes":[],"links":[],"status":{}}]}]}]}' "$trace" "$parent" "$now" "$now" > "$WORLD/span.json"`,
);

describeApiIndependent((backend) => {
  describe('traces', () => {
    test('a hook finds its span in TRACEPARENT, below the attempt and the event of the log', async () => {
      await using receiver = await OtlpReceiver.start();
      const world = await World.create(backend(), {
        globalHooks: { 'a.sh': HOOK },
        hookEnv: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      });
      await world.converge();
      const printed = world.log.printed.find((line) => line.startsWith('TRACEPARENT='));
      const finished = world.log.records.find(({ msg, hook }) => msg === 'hook finished' && hook === 'a.sh');
      await fetch(`${receiver.url}/v1/traces`, {
        method: 'POST',
        body: await readFile(join(world.directory, 'span.json')),
      });
      await world[Symbol.asyncDispose]();
      const byName = new Map(receiver.spans.map((span) => [span.name, span]));
      const [own, hook] = [byName.get('in the hook'), byName.get('hook run a.sh')];
      const task = receiver.spans.find(({ spanId }) => spanId === hook?.parentSpanId);
      const event = receiver.spans.find(({ spanId }) => spanId === task?.parentSpanId);
      expect(printed).toBe(`TRACEPARENT=00-${hook?.traceId}-${hook?.spanId}-01`);
      expect(own).toMatchObject({ traceId: hook?.traceId, parentSpanId: hook?.spanId });
      expect([task?.name, event?.name.split(' ')[0]]).toEqual(['task GlobalHookRun', 'event']);
      expect(finished).toMatchObject({ trace_id: hook?.traceId, span_id: hook?.spanId });
      expect(event && attributeOf(event, 'addon_operator.event.id')).toBe(finished?.['event.id']);
    });

    test('without a collector a hook has no TRACEPARENT, and the log no trace', async () => {
      await using world = await World.create(backend(), { globalHooks: { 'a.sh': HOOK } });
      await world.converge();
      expect(world.log.printed).toContain('TRACEPARENT=');
      expect(world.log.records.filter((record) => 'trace_id' in record)).toEqual([]);
    });
  });
});
