import { expect, test } from 'vitest';
import { leaderHost, leaderPod } from './leader-host.ts';

test.each([
  ['pod-1.10-0-0-1.default.pod', '10.0.0.1'],
  ['name.with.dots.10-0-0-1.default.pod', '10.0.0.1'],
  ['pod-1.fd00-10-244--1a.default.pod', 'fd00:10:244::1a'],
  ['pod-1.2001-db8-0-0-0-0-0-1.default.pod', '2001:db8:0:0:0:0:0:1'],
  ['pod-1.300-0-0-1.default.pod', 'pod-1.300-0-0-1.default.pod'],
  ['pod-1.10-0-0-1.default.svc', 'pod-1.10-0-0-1.default.svc'],
  ['somebody', 'somebody'],
  ['', ''],
])('the leader "%s" is at %s', (identity, host) => {
  expect(leaderHost(identity)).toBe(host);
});

test.each([
  ['pod-1.10-0-0-1.default.pod', 'pod-1'],
  ['name.with.dots.10-0-0-1.default.pod', 'name.with.dots'],
  ['pod-1.fd00-10-244--1a.default.pod', 'pod-1'],
  ['somebody', 'somebody'],
])('the leader "%s" is pod %s', (identity, pod) => {
  expect(leaderPod(identity)).toBe(pod);
});
