import { expect, test } from 'vitest';
import { Instrument } from './instrument.ts';
import type { MetricDefinition } from './metric-definition.ts';

function instrument(
  definition: Partial<MetricDefinition<'module' | 'queue'>>,
): Instrument<'module' | 'queue'> {
  return new Instrument('m', {
    type: 'gauge',
    name: 'm',
    labels: ['module', 'queue'],
    help: 'help',
    buckets: [],
    ...definition,
  });
}

function seriesOf(metric: Instrument<'module' | 'queue'>): string[] {
  return metric.text().split('\n').slice(2, -1);
}

test('a metric has its head before it has series', () => {
  expect(instrument({}).text()).toBe('# HELP m help\n# TYPE m gauge\n');
});

test('a metric without labels has one series from the start, and after a reset', () => {
  const metric = instrument({ type: 'counter', labels: [] });
  expect(seriesOf(metric)).toEqual(['m 0']);
  metric.inc({}, 2);
  expect(seriesOf(metric)).toEqual(['m 2']);
  metric.reset();
  expect(seriesOf(metric)).toEqual(['m 0']);
});

test('series keep the order of the labels in the table, and leave out those without a value', () => {
  const metric = instrument({});
  metric.set({ queue: 'q', module: 'web' }, 1);
  metric.set({ module: 'web', queue: 'q' }, 2);
  metric.inc({ queue: 'q' });
  metric.set({ module: '', queue: 'q' }, 0.5);
  expect(seriesOf(metric)).toEqual([
    'm{module="web",queue="q"} 2',
    'm{queue="q"} 1',
    'm{module="",queue="q"} 0.5',
  ]);
});

test('values of labels are escaped, and different values never share a series', () => {
  const metric = instrument({});
  for (const module of ['a"b', 'a\\b', 'a\nb', 'a\\"b', 'a\\nb', '\ud800']) metric.set({ module }, 1);
  metric.set({ module: 'x",queue="y' }, 1);
  metric.set({ module: 'x', queue: 'y' }, 1);
  expect(seriesOf(metric)).toEqual([
    String.raw`m{module="a\"b"} 1`,
    String.raw`m{module="a\\b"} 1`,
    String.raw`m{module="a\nb"} 1`,
    String.raw`m{module="a\\\"b"} 1`,
    String.raw`m{module="a\\nb"} 1`,
    'm{module="\ufffd"} 1',
    String.raw`m{module="x\",queue=\"y"} 1`,
    'm{module="x",queue="y"} 1',
  ]);
});

test('a histogram counts each value in its bucket and in all larger ones', () => {
  const metric = instrument({ type: 'histogram', buckets: [0.1, 1] });
  for (const value of [0.05, 0.1, 0.5, 7]) metric.observe({ module: 'web' }, value);
  expect(seriesOf(metric)).toEqual([
    'm_bucket{le="0.1",module="web"} 2',
    'm_bucket{le="1",module="web"} 3',
    'm_bucket{le="+Inf",module="web"} 4',
    'm_sum{module="web"} 7.65',
    'm_count{module="web"} 4',
  ]);
});

test('a histogram without labels is complete before the first value', () => {
  const metric = instrument({ type: 'histogram', buckets: [1], labels: [] });
  expect(seriesOf(metric)).toEqual(['m_bucket{le="1"} 0', 'm_bucket{le="+Inf"} 0', 'm_sum 0', 'm_count 0']);
});

test('a summary is the sum and the count of its values', () => {
  const metric = instrument({ type: 'summary' });
  for (const value of [0.5, 7]) metric.observe({ module: 'web' }, value);
  expect(seriesOf(metric)).toEqual(['m_sum{module="web"} 7.5', 'm_count{module="web"} 2']);
});

test('a removed series is gone, the others stay', () => {
  const metric = instrument({});
  metric.set({ module: 'a' }, 1);
  metric.set({ module: 'b' }, 1);
  metric.remove({ module: 'a' });
  expect(seriesOf(metric)).toEqual(['m{module="b"} 1']);
});
