import { expect, test } from 'vitest';
import { byLabels, parseFieldSelector, parseLabelSelector } from './query-selectors.ts';
import type { ResourceObject } from './resource-object.ts';
import { StatusError } from './status-error.ts';

const labels = { app: 'web', tier: 'front', level: '5' };

test.each([
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app = web , tier = front', true],
  ['app=api', false],
  ['app!=api', true],
  ['none!=x', true],
  ['app!=web', false],
  ['app', true],
  ['none', false],
  ['!none', true],
  ['!app', false],
  ['app in (api, web)', true],
  ['app in (api)', false],
  ['app notin (api)', true],
  ['none notin (api)', true],
  ['app notin (web)', false],
  ['level>4', true],
  ['level<5', false],
  ['app>4', false],
  ['app in (web),tier notin (back),!none', true],
  ['example.com/name=', false],
])('label selector "%s" passes: %s', (text, isPassed) => {
  expect(parseLabelSelector(text)(labels)).toBe(isPassed);
});

test.each(['a===b', 'a=b,,c', '!a=b', 'a in b', 'a b', 'a>x', '=x'])(
  'refuses the label selector "%s"',
  (text) => {
    expect(() => parseLabelSelector(text)).toThrow(StatusError);
  },
);

const pod: ResourceObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'b' },
  spec: { hostNetwork: true },
  status: { phase: 'Running' },
};
const podKind = { group: '', kind: 'Pod', isCustom: false };

test('an object without labels passes what asks for none', () => {
  expect(byLabels(parseLabelSelector('!a'))(pod)).toBe(true);
  expect(byLabels(parseLabelSelector('a'))(pod)).toBe(false);
});

test.each([
  ['', true],
  ['metadata.name=a', true],
  ['metadata.name==a,metadata.namespace=b', true],
  ['metadata.name!=a', false],
  ['status.phase=Running', true],
  ['status.phase!=Running', false],
  ['spec.hostNetwork=true', true],
  ['spec.nodeName=', true],
  ['spec.nodeName=x', false],
])('field selector "%s" passes: %s', (text, isPassed) => {
  expect(parseFieldSelector(text, podKind)(pod)).toBe(isPassed);
});

test('events are found by what they are about and who reports', () => {
  const event = {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod', name: 'a' },
    source: { component: 'kubelet' },
  };
  const kind = { group: '', kind: 'Event', isCustom: false };
  expect(
    parseFieldSelector('involvedObject.name=a,involvedObject.kind=Pod,source=kubelet', kind)(event),
  ).toBe(true);
  expect(parseFieldSelector('involvedObject.name=b', kind)(event)).toBe(false);
});

test('refuses fields that the kind does not offer', () => {
  expect(() =>
    parseFieldSelector('status.phase=x', { group: '', kind: 'ConfigMap', isCustom: false }),
  ).toThrow('"status.phase" is not a known field selector');
  expect(() => parseFieldSelector('status.phase=x', { group: '', kind: 'Pod', isCustom: true })).toThrow(
    StatusError,
  );
  expect(() => parseFieldSelector('nonsense', podKind)).toThrow(StatusError);
});
