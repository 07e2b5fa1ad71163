import { silentLogger } from '@addon-operator/base/log';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { HookMetrics } from './hook-metrics.ts';
import { parseMetricOperations } from './metric-operation.ts';

const SAMPLE =
  /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+\})? (NaN|[+-]Inf|[-+.\de]+)$/;
const HEAD = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/;

const labels = fc.dictionary(
  fc.constantFrom('a', 'le', 'hook', 'module', 'constructor', 'toString'),
  fc.oneof(fc.string({ unit: 'binary', maxLength: 4 }), fc.constantFrom('', '1', '\n', '"', '\\')),
);
const value = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -1, 1e308, 0.1));
const operation = fc.record(
  {
    name: fc.constantFrom(
      'h',
      'h_sum',
      'h_count',
      'h_bucket',
      'g',
      'c_total',
      'constructor',
      '__proto__',
      '',
    ),
    action: fc.constantFrom('add', 'set', 'observe', 'expire', 'other'),
    value,
    set: value,
    add: value,
    buckets: fc.array(value, { maxLength: 3 }),
    labels,
    group: fc.constantFrom('one', 'two', 'constructor', '__proto__', 'a.sh'),
  },
  { requiredKeys: ['name'] },
);
const runs = fc.array(
  fc.record({ hook: fc.constantFrom('a.sh', 'b.sh'), operations: fc.array(operation, { maxLength: 4 }) }),
  { maxLength: 8 },
);

/** Faults that make a page unreadable for Prometheus: lines of no known form, and anything that is there twice. */
function pageProblems(page: string): readonly string[] {
  const seen = new Set<string>();
  const problems: string[] = [];
  const once = (what: string): void => {
    if (seen.has(what)) problems.push(`twice: ${what}`);
    seen.add(what);
  };
  for (const line of page.split('\n').slice(0, -1)) {
    const sample = SAMPLE.exec(line);
    const head = HEAD.exec(line);
    if (sample !== null) once(`${sample[1]}${sample[2] ?? ''}`);
    else if (head !== null) once(`${head[1]} ${head[2]}`);
    else problems.push(`no known form: ${line}`);
  }
  return problems;
}

test('the page can be parsed with any metrics of hooks', () => {
  fc.assert(
    fc.property(runs, (all) => {
      const metrics = new HookMetrics({
        log: silentLogger,
        redact: (text) => text,
        onSeriesDropped: () => undefined,
      });
      for (const { hook, operations } of all) {
        const text = operations.map((each) => JSON.stringify(each)).join('');
        try {
          metrics.apply({ hook }, parseMetricOperations(text).operations);
        } catch {
          // A file that is refused changes nothing.
        }
        expect(pageProblems(metrics.scrape())).toEqual([]);
      }
    }),
    { numRuns: 2_000 },
  );
});
