import { silentLogger } from '@addon-operator/base/log';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { HookMetrics, type HookMetricsOptions } from './hook-metrics.ts';
import { parseMetricOperations } from './metric-operation.ts';

const HOOK = { hook: 'a.sh' };

function create(options?: Partial<HookMetricsOptions>): HookMetrics {
  const defaults = { log: silentLogger, redact: (text: string) => text, onSeriesDropped: () => undefined };
  return new HookMetrics({ ...defaults, ...options });
}

function apply(
  metrics: HookMetrics,
  labels: { module?: string; hook: string },
  ...operations: object[]
): void {
  const text = operations.map((operation) => JSON.stringify(operation)).join('\n');
  metrics.apply(labels, parseMetricOperations(text).operations);
}

function samples(metrics: HookMetrics): string[] {
  return metrics
    .scrape()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

test('without metrics the page is empty', () => {
  expect(create().scrape()).toBe('');
});

test('metrics keep their names and carry the hook, and the module of a module hook', () => {
  const metrics = create();
  apply(metrics, HOOK, { name: 'g', set: 1.5 });
  apply(metrics, { module: 'web', hook: 'hooks/b.sh' }, { name: 'c', add: 2 });
  expect(metrics.scrape()).toBe(`# HELP c c
# TYPE c counter
c{hook="hooks/b.sh",module="web"} 2
# HELP g g
# TYPE g gauge
g{hook="a.sh"} 1.5
`);
});

test('values of labels contain no secret, and series that are equal then are one', () => {
  const metrics = create({ redact: (text) => text.replaceAll(/token-\d/g, '***') });
  const labels = (url: string) => ({ labels: { url } });
  apply(metrics, HOOK, { name: 'c', add: 1, ...labels('//token-1@host') });
  apply(
    metrics,
    HOOK,
    { name: 'c', add: 2, ...labels('//token-1@host') },
    { name: 'c', add: 3, ...labels('//token-2@host') },
  );
  expect(samples(metrics)).toEqual(['c{hook="a.sh",url="//***@host"} 5']);
});

test('the names of hook and module cannot be forged', () => {
  const metrics = create();
  apply(metrics, { module: 'web', hook: 'h' }, { name: 'g', set: 1, labels: { hook: 'x', module: 'y' } });
  expect(samples(metrics)).toEqual(['g{hook="h",module="web"} 1']);
});

test('adds accumulate within a run and not over runs', () => {
  const metrics = create();
  apply(metrics, HOOK, { name: 'c', add: 1 }, { name: 'c', add: 2 });
  expect(samples(metrics)).toEqual(['c{hook="a.sh"} 3']);
  apply(metrics, HOOK, { name: 'c', add: 1 });
  expect(samples(metrics)).toEqual(['c{hook="a.sh"} 1']);
});

test('a run replaces what the hook emitted before, a run without metrics keeps it', () => {
  const metrics = create();
  apply(metrics, HOOK, { name: 'a', set: 1 });
  apply(metrics, HOOK, { name: 'b', set: 1 });
  expect(samples(metrics)).toEqual(['b{hook="a.sh"} 1']);
  apply(metrics, HOOK);
  expect(samples(metrics)).toEqual(['b{hook="a.sh"} 1']);
});

test('a named group is replaced alone, by any hook', () => {
  const metrics = create();
  apply(metrics, HOOK, { name: 'own', set: 1 }, { name: 'grouped', set: 1, group: 'g' });
  apply(metrics, { hook: 'b.sh' }, { name: 'grouped', set: 2, group: 'g' });
  expect(samples(metrics)).toEqual(['grouped{hook="b.sh"} 2', 'own{hook="a.sh"} 1']);
});

test('expire removes a group of every hook, also what the same run set before', () => {
  const metrics = create();
  apply(metrics, HOOK, { name: 'x', set: 1, group: 'g' });
  apply(
    metrics,
    { hook: 'b.sh' },
    { name: 'y', set: 1, group: 'g' },
    { action: 'expire', group: 'g' },
    { name: 'z', set: 1, group: 'g' },
  );
  expect(samples(metrics)).toEqual(['z{hook="b.sh"} 1']);
});

const GROUPED_RUN = fc.record({
  hook: fc.constantFrom('a.sh', 'b.sh'),
  operations: fc.array(
    fc.oneof(
      fc.record({ name: fc.constantFrom('x', 'y'), set: fc.nat(9), group: fc.constantFrom('g', 'h') }),
      fc.record({ action: fc.constant('expire'), group: fc.constantFrom('g', 'h') }),
      fc.record({ name: fc.constantFrom('x', 'y'), set: fc.nat(9) }),
    ),
    { maxLength: 4 },
  ),
});

test('hooks with groups of their own have the series that each of them would have alone', () => {
  fc.assert(
    fc.property(fc.array(GROUPED_RUN, { maxLength: 12 }), (runs) => {
      const together = create({ groups: 'hook' });
      for (const { hook, operations } of runs) apply(together, { hook }, ...operations);
      const alone = ['a.sh', 'b.sh'].flatMap((name) => {
        const metrics = create({ groups: 'hook' });
        for (const { hook, operations } of runs) if (hook === name) apply(metrics, { hook }, ...operations);
        return samples(metrics);
      });
      expect(samples(together).toSorted()).toEqual(alone.toSorted());
    }),
  );
});

test('a hook that removes series of another hook is warned about once', () => {
  const captured = new CapturedLog(new FakeClock());
  const metrics = create({ log: captured.logger });
  for (let run = 0; run < 2; run += 1) {
    apply(metrics, HOOK, { name: 'x', set: 1, group: 'g' });
    apply(metrics, { hook: 'b.sh' }, { action: 'expire', group: 'g' });
  }
  expect(captured.records).toMatchObject([
    { level: 'warn', hook: 'b.sh', metric: 'x', ownerLabels: { hook: 'a.sh' } },
  ]);
});

test('equally named hooks of two modules do not expire each other', () => {
  const metrics = create();
  apply(metrics, { module: 'm1', hook: 'hooks/a.sh' }, { name: 'g', set: 1 });
  apply(metrics, { module: 'm2', hook: 'hooks/a.sh' }, { name: 'g', set: 2 });
  expect(samples(metrics)).toHaveLength(2);
});

test('label sets widen, and an empty label is the same as none', () => {
  const metrics = create();
  apply(
    metrics,
    HOOK,
    { name: 'g', set: 1 },
    { name: 'g', set: 2, labels: { zone: 'a' } },
    { name: 'g', set: 3, labels: { zone: '' } },
  );
  expect(samples(metrics)).toEqual(['g{hook="a.sh",zone=""} 3', 'g{hook="a.sh",zone="a"} 2']);
});

test('labels may have the names of what every object has', () => {
  const metrics = create();
  apply(
    metrics,
    HOOK,
    { name: 'g', set: 1 },
    { name: 'g', set: 2, labels: { constructor: 'x', toString: 'y' } },
  );
  expect(samples(metrics)).toEqual([
    'g{constructor="",hook="a.sh",toString=""} 1',
    'g{constructor="x",hook="a.sh",toString="y"} 2',
  ]);
});

test('of the same series in two groups the one that was written last is shown', () => {
  const metrics = create();
  apply(metrics, HOOK, { name: 'g', set: 1, group: 'one' }, { name: 'g', set: 2, group: 'two' });
  expect(samples(metrics)).toEqual(['g{hook="a.sh"} 2']);
  apply(metrics, HOOK, { action: 'expire', group: 'one' });
  expect(samples(metrics)).toEqual(['g{hook="a.sh"} 2']);
  apply(metrics, HOOK, { action: 'expire', group: 'two' });
  expect(metrics.scrape()).toBe('');
});

test('histograms sort their buckets, and a negative value counts in sum and count only', () => {
  const metrics = create();
  const observe = { name: 'h', action: 'observe', buckets: [5, 1] };
  apply(metrics, HOOK, { ...observe, value: 1 }, { ...observe, value: 7 }, { ...observe, value: -2 });
  expect(samples(metrics)).toEqual([
    'h_bucket{hook="a.sh",le="1"} 1',
    'h_bucket{hook="a.sh",le="5"} 1',
    'h_bucket{hook="a.sh",le="+Inf"} 3',
    'h_sum{hook="a.sh"} 6',
    'h_count{hook="a.sh"} 3',
  ]);
});

test('the buckets of the first use hold', () => {
  const metrics = create();
  apply(metrics, HOOK, { name: 'h', action: 'observe', value: 1, buckets: [1] });
  apply(metrics, { hook: 'b.sh' }, { name: 'h', action: 'observe', value: 1, buckets: [2, 3] });
  expect(samples(metrics).filter((line) => line.includes('b.sh'))).toEqual([
    'h_bucket{hook="b.sh",le="1"} 1',
    'h_bucket{hook="b.sh",le="+Inf"} 1',
    'h_sum{hook="b.sh"} 1',
    'h_count{hook="b.sh"} 1',
  ]);
});

test.each([
  ['add on a gauge', { name: 'x', set: 1 }, { name: 'x', add: 1 }],
  [
    'a histogram over a part of its name',
    { name: 'x_sum', set: 1 },
    { name: 'x', action: 'observe', value: 1, buckets: [] },
  ],
  [
    'a part of a histogram',
    { name: 'x', action: 'observe', value: 1, buckets: [] },
    { name: 'x_count', add: 1 },
  ],
])('%s is logged and changes nothing', (_case, first, second) => {
  const errors: unknown[] = [];
  const metrics = create({ log: { ...silentLogger, error: (fields) => void errors.push(fields) } });
  apply(metrics, HOOK, first);
  const before = metrics.scrape();
  apply(metrics, { hook: 'b.sh' }, second);
  expect(metrics.scrape()).toBe(before);
  expect(errors).toEqual([expect.objectContaining({ hook: 'b.sh', metric: second.name })]);
});

test('more series than a hook may have are dropped and counted', () => {
  const dropped: unknown[] = [];
  const metrics = create({
    maxSeriesPerHook: 2,
    onSeriesDropped: (labels, series) => void dropped.push([labels, series]),
  });
  const series = ['1', '2', '3', '4'].map((n) => ({ name: 'g', set: 1, labels: { n } }));
  apply(metrics, HOOK, ...series, { name: 'other', set: 1 });
  expect(samples(metrics)).toEqual(['g{hook="a.sh",n="1"} 1', 'g{hook="a.sh",n="2"} 1']);
  expect(dropped).toEqual([[{ module: '', hook: 'a.sh' }, 3]]);
  apply(metrics, { hook: 'b.sh' }, { name: 'other', set: 1 });
  expect(samples(metrics)).toHaveLength(3);
});

test('label values are escaped and numbers written so that Prometheus reads them', () => {
  const metrics = create();
  apply(metrics, HOOK, { name: 'g', set: 1e21, labels: { x: 'a"b\\c\nd\uD800' } });
  expect(samples(metrics)).toEqual(['g{hook="a.sh",x="a\\"b\\\\c\\nd\uFFFD"} 1e+21']);
});
