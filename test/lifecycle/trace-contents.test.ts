import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { EventRuns } from '../../src/journal/run-view.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { attributeOf, OtlpReceiver, type OtlpSpan } from '../support/otlp-receiver.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const SECRET = 'correct-horse-battery';
const REFERENCE = '{valueFrom: {secretKeyRef: {name: web-secret, key: token}}}';
/** Prints the secret, and writes it into each kind of file, after it has failed with it once; helm succeeds in its third run. */
const LEAK = `
echo run >> "$WORLD/runs"
case $(wc -l < "$WORLD/runs") in
1) cat "$VALUES_PATH"; echo "cannot log in with ${SECRET}" >&2; exit 1 ;;
2) echo '{"op":"add","path":"/web/isMended","value":false}' > "$VALUES_JSON_PATCH_PATH" ;;
*) echo '{"op":"add","path":"/web/isMended","value":true}' > "$VALUES_JSON_PATCH_PATH" ;;
esac
echo "logged in with ${SECRET}"
echo '{"op":"add","path":"/web/url","value":"https://${SECRET}@host"}' >> "$VALUES_JSON_PATCH_PATH"
echo '{"op":"add","path":"/web/saved","value":"${SECRET}"}' > "$CONFIG_VALUES_JSON_PATCH_PATH"
cat > "$KUBERNETES_PATCH_PATH" <<EOT
{"operation":"CreateOrUpdate","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"copy","namespace":"$(cat "$WORLD/namespace")"},"data":{"token":"${SECRET}"}}}
EOT
cat > "$METRICS_PATH" <<EOT
{"name":"logins","action":"set","value":1,"labels":{"as":"${SECRET}"}}
EOT
`;
/** Fails with the secret in its message, once. */
const FAILS_IN_HELM = `{{ if not .Values.web.isMended }}{{ fail (printf "no user %s" .Values.web.token) }}{{ end }}`;

/** What a span says: its name, what happened to it, and each attribute and event. */
const textOf = ({
  name,
  status,
  attributes,
  events = [],
}: OtlpSpan & { readonly events?: unknown }): string => JSON.stringify({ name, status, attributes, events });

/** Attributes of docs/traces.md; `.b` after `a.x` means `a.b`. */
async function documentedAttributes(): Promise<ReadonlySet<string>> {
  const page = await readFile(join(import.meta.dirname, '../../docs/traces.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| `[a-z]/.test(line));
  return new Set(
    rows.flatMap((row) => {
      const names = [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      const [first = ''] = names;
      const parent = first.slice(0, first.lastIndexOf('.'));
      return names.map((name) => (name.startsWith('.') ? `${parent}${name}` : name));
    }),
  );
}

/** What the journal and the spans of an event both know: its tasks, phases and hook runs. */
const byJournal = ({ runs }: EventRuns): readonly string[] =>
  runs.flatMap(({ traceId, type, hook, module, parent, attempt, phases }) => [
    parent === null
      ? `${traceId} task ${type} ${module} ${attempt}`
      : `${traceId} hook run ${hook} ${module}`,
    ...(parent === null && type.endsWith('HookRun') ? [`${traceId} hook run ${hook} ${module}`] : []),
    ...phases.map(({ name }) => `${traceId} module phase ${name}`),
  ]);
const bySpans = (spans: readonly OtlpSpan[]): readonly string[] =>
  spans.flatMap((span) => {
    const [module = '', attempt] = ['module', 'task.attempt'].map((name) => {
      const value = attributeOf(span, `addon_operator.${name}`);
      return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
    });
    if (span.name.startsWith('task ')) return [`${span.traceId} ${span.name} ${module} ${attempt}`];
    if (span.name.startsWith('hook run ')) return [`${span.traceId} ${span.name} ${module}`];
    return span.name.startsWith('module phase ') ? [`${span.traceId} ${span.name}`] : [];
  });

describeApiIndependent((backend) => {
  describe('what traces contain', () => {
    test('a secret in values, output, errors, patches and charts is in no span, and trace EVENT shows the same runs', async () => {
      await using receiver = await OtlpReceiver.start();
      const world = await World.create(backend(), {
        config: { web: `token: ${REFERENCE}\n` },
        flags: { 'secret-references': '*' },
        modules: {
          'values.yaml': 'webEnabled: true\n',
          ...under('001-web', configMapChart('web', 'web')),
          '001-web/templates/fails.yaml': FAILS_IN_HELM,
          '001-web/hooks/leak.sh': shHook('beforeHelm: 1', LEAK),
        },
        globalHooks: { 'start.sh': shHook('onStartup: 1', 'echo started') },
        hookEnv: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      });
      await world.write('modules', { '../namespace': world.namespace });
      const body = { kind: 'Secret', metadata: { name: 'web-secret' }, stringData: { token: SECRET } };
      await world.create('secrets', body);
      await world.start();
      const failures = (): number =>
        world.log.records.filter(({ msg }) => msg === 'ModuleRun failed. Requeue task to retry after delay.')
          .length;
      await world.log.until(() => failures() === 1);
      await world.passDelay();
      await world.log.until(() => failures() === 2);
      await world.passDelay();
      await world.daemon.firstConverge;

      const ids = [...new Set(world.log.records.flatMap((record) => record['event.id'] ?? []))].map(String);
      const traced: EventRuns[] = [];
      for (const id of ids) {
        const { exitCode, stdout } = await runInWorld(world, 'trace', id, '-o', 'json');
        if (exitCode === 0) traced.push(JSON.parse(stdout) as EventRuns);
      }
      await world[Symbol.asyncDispose]();

      expect(receiver.spans.map(textOf).filter((text) => text.includes(SECRET))).toEqual([]);
      // Else nothing was masked, or nothing was said.
      const said = receiver.spans.map(textOf).join('\n');
      expect(said).toContain('cannot log in with ***');
      expect(said).toContain('no user ***');
      for (const name of ['patch values', 'patch objects', 'helm upgrade'])
        expect(said).toContain(`"${name}"`);

      const documented = await documentedAttributes();
      const unknown = receiver.spans.flatMap(({ name, attributes }) =>
        attributes.filter(({ key }) => !documented.has(key)).map(({ key }) => `${key} of ${name}`),
      );
      expect([...new Set(unknown)]).toEqual([]);

      const ended = new Set<unknown>(traced.flatMap(({ eventId }) => eventId));
      const own = receiver.spans.filter((span) => ended.has(attributeOf(span, 'addon_operator.event.id')));
      const traces = new Set(own.map(({ traceId }) => traceId));
      const spans = receiver.spans.filter(({ traceId }) => traces.has(traceId));
      expect(traced.flatMap(({ runs }) => runs).length).toBeGreaterThan(5);
      expect(traced.flatMap(byJournal).toSorted()).toEqual(bySpans(spans).toSorted());
    });

    test('a collector that returns 429 for ever costs spans and nothing else', async () => {
      await using receiver = await OtlpReceiver.start();
      receiver.always = { status: 429, headers: { 'retry-after': '0' } };
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': shHook('onStartup: 1', 'echo ran') },
        hookEnv: {
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          OTEL_BSP_MAX_QUEUE_SIZE: '4',
          OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
        },
      });
      await world.converge();
      expect(world.log.printed).toContain('ran');
      const lost = /^addon_operator_trace_spans_dropped_total (?<count>\d+)$/m;
      await vi.waitFor(
        async () => {
          const page = await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
          expect(Number(lost.exec(page)?.groups?.['count'])).toBeGreaterThan(0);
        },
        { timeout: 60_000, interval: 100 },
      );
      expect(receiver.spans).toEqual([]);
    });
  });
});
