import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { queryPrometheus } from '../../src/delivery/query-prometheus.ts';
import { prometheusForTests } from '../support/prometheus/prometheus-programs.ts';
import { PrometheusServer } from '../support/prometheus/prometheus-server.ts';

const programs = await prometheusForTests();
const never = new AbortController().signal;

test.skipIf(programs === undefined)(
  'a gate reads scalars, vectors, missing data and refusals of a real Prometheus',
  async () => {
    const file = programs?.prometheus ?? '';
    const server = await PrometheusServer.start({ file, targets: [], labels: {}, rules: { groups: [] } });
    const { url } = server;
    const observe = async (promql: string) =>
      await queryPrometheus({ url, promql }, { clock: systemClock }, never);
    try {
      expect(await observe('scalar(vector(0.25))')).toEqual({ type: 'value', value: 0.25 });
      const series =
        'label_replace(vector(1), "a", "1", "", "") or label_replace(vector(7), "a", "2", "", "")';
      expect(await observe(series)).toEqual({ type: 'value', value: 7 });
      expect(await observe('vector(1) / 0')).toEqual({ type: 'value', value: Number.POSITIVE_INFINITY });
      expect(await observe('vector(0) / 0')).toEqual({ type: 'no-data' });
      expect(await observe('http_requests_total')).toEqual({ type: 'no-data' });
      expect(await observe('sum(')).toEqual({
        type: 'unknown',
        reason: expect.stringContaining('parse error'),
      });
      expect(await observe('up[5m]')).toEqual({ type: 'unknown', reason: expect.stringContaining('matrix') });
    } finally {
      await server[Symbol.asyncDispose]();
    }
    expect(await observe('vector(1)')).toEqual({
      type: 'unknown',
      reason: expect.stringContaining('ECONNREFUSED'),
    });
  },
);
