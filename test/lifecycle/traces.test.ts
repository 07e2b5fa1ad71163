import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { attributeOf, OtlpReceiver, type OtlpSpan } from '../support/otlp-receiver.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under, writeTree } from '../support/world-files.ts';

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

/** Lets helm start before its module needs it. */
const WAITS_FOR_HELM = shHook('beforeHelm: 1', 'until [ -s "$WORLD/helm-spans" ]; do sleep 0.05; done');

/** helm that notes what it is called for, and the span that it is passed. */
function notingHelm({ backend }: World): string {
  return `#!/bin/sh\necho "$1 $TRACEPARENT" >>"$WORLD/helm-spans"\nexec '${backend.helmPath}' "$@"\n`;
}

function problemsOf(span: OtlpSpan, spans: readonly OtlpSpan[]): readonly string[] {
  if (span.parentSpanId === undefined) return [];
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  if (parent === undefined) return [`${span.name} has an unknown parent`];
  const begins = BigInt(span.startTimeUnixNano) >= BigInt(parent.startTimeUnixNano);
  const ends =
    parent.name.startsWith('event ') || BigInt(span.endTimeUnixNano) <= BigInt(parent.endTimeUnixNano);
  return begins && ends && span.traceId === parent.traceId
    ? []
    : [`${span.name} is outside of ${parent.name}`];
}

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

    test('each helm is passed its span, also one that was started ahead of its module', async () => {
      await using receiver = await OtlpReceiver.start();
      const world = await World.create(backend(), {
        modules: {
          'values.yaml': 'webEnabled: true\ndbEnabled: true\n',
          ...under('001-web', { ...configMapChart('web', 'web'), 'hooks/wait.sh': WAITS_FOR_HELM }),
          ...under('002-db', configMapChart('db', 'db')),
        },
        hookEnv: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      });
      await writeTree(world.directory, { helm: notingHelm(world) });
      await world.converge();
      await world.putConfig({ webEnabled: 'false' });
      const count = (msg: string, module: string): number =>
        world.log.records.filter((record) => record['msg'] === msg && record['module'] === module).length;
      await world.log.until(() => count('ModuleDelete success, module is deleted', 'web') === 1);
      await world.log.until(() => count('ModuleRun success, module is ready', 'db') === 2);
      await world.stop();
      const noted = (await readFile(join(world.directory, 'helm-spans'), 'utf8')).split('\n');
      await world[Symbol.asyncDispose]();
      expect(receiver.spans.flatMap((span) => problemsOf(span, receiver.spans))).toEqual([]);
      const helm = receiver.spans.filter(({ name }) => /^helm (?:upgrade|uninstall)/.test(name));
      expect(helm.map(({ name }) => name).toSorted()).toEqual([
        'helm uninstall',
        'helm upgrade',
        'helm upgrade',
      ]);
      for (const { name, traceId, spanId } of helm)
        expect(noted).toContain(`${name.slice('helm '.length)} 00-${traceId}-${spanId}-01`);
      const [web] = helm.filter((span) => attributeOf(span, 'addon_operator.helm.release') === 'web');
      expect(web && attributeOf(web, 'addon_operator.helm.started_ahead')).toBe(true);
      expect(web && attributeOf(web, 'addon_operator.helm.revision')).toBe(1);
      expect(web && attributeOf(web, 'addon_operator.exit_code')).toBe(0);
      const steps = receiver.spans.filter(({ parentSpanId }) => parentSpanId === web?.spanId);
      expect(steps.map(({ name }) => name)).toEqual(['render', 'check', 'apply']);
      const [checked] = receiver.spans.filter(({ name }) => name === 'helm check');
      expect(checked && attributeOf(checked, 'addon_operator.helm.skipped_reason')).toBe('nothing changed');
    });

    test('without a collector a hook has no TRACEPARENT, and the log no trace', async () => {
      await using world = await World.create(backend(), { globalHooks: { 'a.sh': HOOK } });
      await world.converge();
      expect(world.log.printed).toContain('TRACEPARENT=');
      expect(world.log.records.filter((record) => 'trace_id' in record)).toEqual([]);
    });
  });
});
