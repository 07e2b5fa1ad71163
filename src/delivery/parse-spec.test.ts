import { expect, test } from 'vitest';
import { parseInstall, parseSource } from './parse-spec.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const source = { url: 'oci://registry.example.com/platform' };
const install = { source: 'platform', version: { channel: 'stable' } };

test('parseSource() sets defaults', () => {
  expect(parseSource({ name: 'platform', generation: 3, spec: source })).toEqual({
    type: 'valid',
    value: {
      name: 'platform',
      generation: 3,
      url: source.url,
      intervalMs: 600_000,
      timeoutMs: 120_000,
      mirrors: [],
      auth: undefined,
      ca: undefined,
      verify: { keyring: undefined, cosignKeys: [] },
    },
  });
});

test('parseInstall() sets defaults', () => {
  expect(parseInstall({ name: 'web', spec: install })).toEqual({
    type: 'valid',
    value: {
      name: 'web',
      generation: undefined,
      source: 'platform',
      entry: '100-web',
      wanted: { type: 'channel', channel: 'stable' },
      mode: 'auto',
      windows: [],
      soakMs: 0,
      approval: undefined,
      hold: undefined,
      gates: [{ type: 'ready', forMs: 0 }],
      onFailure: { rollback: false, afterMs: 900_000 },
    },
  });
});

test('parseInstall() reads everything', () => {
  const spec = {
    source: 'platform',
    order: 30,
    version: { range: '~1.4' },
    update: {
      mode: 'patch',
      windows: [{ days: ['Mon'], from: '09:00', to: '16:00', timeZone: 'Europe/Berlin' }],
      soak: '24h',
    },
    approved: DIGEST,
    approval: { at: '2026-11-01T08:00:00Z', now: true },
    hold: { reason: 'INC-7', until: '2026-12-01' },
    gates: [
      { ready: '5m' },
      { query: { url: 'http://prometheus:9090', promql: 'up', max: 0.01, for: '10m' } },
    ],
    onFailure: { rollback: true, after: '30s' },
  };
  expect(parseInstall({ name: 'web', spec })).toMatchObject({
    type: 'valid',
    value: {
      entry: '030-web',
      wanted: { type: 'range', range: '~1.4' },
      mode: 'patch',
      soakMs: 86_400_000,
      approval: { digest: DIGEST, id: `${DIGEST}@2026-11-01T08:00:00Z`, now: true },
      hold: { reason: 'INC-7', untilMs: Date.UTC(2026, 11, 1) },
      gates: [
        { type: 'ready', forMs: 300_000 },
        { type: 'query', promql: 'up', max: 0.01, forMs: 600_000, noData: 'hold' },
      ],
      onFailure: { rollback: true, afterMs: 30_000 },
    },
  });
});

const BAD_SOURCES: readonly (readonly [string, unknown, RegExp])[] = [
  ['nothing', undefined, /^spec: must be a mapping/u],
  ['no url', {}, /^spec: url is missing/u],
  ['another scheme', { url: 'https://example.com' }, /^spec.url: must be oci:/u],
  ['a password in the address', { url: 'oci://me:secret@example.com/x' }, /^spec.url: must be oci:/u],
  ['a tag', { url: 'oci://example.com/x?y' }, /^spec.url: must be oci:/u],
  ['too often', { ...source, interval: '1s' }, /^spec.interval: must be a duration from 10s/u],
  ['no duration', { ...source, interval: 'often' }, /^spec.interval: must be a duration/u],
  [
    'two credentials',
    { ...source, auth: { secretRef: { name: 'a' }, credentialProvider: 'b' } },
    /^spec.auth: must have exactly one of/u,
  ],
  [
    'no key',
    { ...source, verify: { cosign: { keys: [] } } },
    /^spec.verify.cosign.keys: must have at least 1/u,
  ],
  ['a typo', { ...source, mirror: [] }, /^spec.mirror: unknown key.*mirrors/u],
];

test.each(BAD_SOURCES)('parseSource() refuses %s', (_name, spec, message) => {
  const parsed = parseSource({ name: 'platform', spec });
  expect(parsed.type === 'invalid' ? parsed.problems.join('\n') : '').toMatch(message);
});

const at = { from: '09:00', to: '10:00' };
const BAD_INSTALLS: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ['no version', { version: {} }, /^spec.version: must have exactly one of channel, range, exact, digest/u],
  ['two versions', { version: { channel: 'a', exact: '1.0.0' } }, /^spec.version: must have exactly one of/u],
  ['a range that is none', { version: { range: 'newest' } }, /^spec.version.range: must be a range/u],
  ['a version that is none', { version: { exact: 'v1' } }, /^spec.version.exact: must be a version/u],
  ['a short digest', { version: { digest: 'sha256:12' } }, /^spec.version.digest: must be sha256/u],
  ['a tag as approval', { approved: '1.0.0' }, /^spec.approved: must be sha256/u],
  [
    'a window without length',
    { update: { windows: [{ from: '09:00', to: '09:00' }] } },
    /^spec.update.windows\[0\]: never opens/u,
  ],
  [
    'an unknown zone',
    { update: { windows: [{ ...at, timeZone: 'Berlin' }] } },
    /^spec.update.windows\[0\].timeZone: must be the name/u,
  ],
  [
    'an unknown day',
    { update: { windows: [{ ...at, days: ['Monday'] }] } },
    /^spec.update.windows\[0\].days\[0\]: must be one of Mon/u,
  ],
  [
    'no day',
    { update: { windows: [{ ...at, days: [] }] } },
    /^spec.update.windows\[0\].days: must have at least 1/u,
  ],
  [
    '25 o clock',
    { update: { windows: [{ from: '09:00', to: '25:00' }] } },
    /^spec.update.windows\[0\].to: must be a time/u,
  ],
  ['a hold without reason', { hold: {} }, /^spec.hold: reason is missing/u],
  ['an empty reason', { hold: { reason: ' ' } }, /^spec.hold.reason: must say why/u],
  ['a hold until some day', { hold: { reason: 'x', until: 'soon' } }, /^spec.hold.until: must be a date/u],
  ['a gate without kind', { gates: [{}] }, /^spec.gates\[0\]: must have exactly one of ready, query/u],
  [
    'a gate of two kinds',
    { gates: [{ ready: '1m', query: { url: 'http://p', promql: 'up', max: 1 } }] },
    /^spec.gates\[0\]: must have exactly one/u,
  ],
  [
    'a query without limit',
    { gates: [{ query: { url: 'http://p', promql: 'up' } }] },
    /^spec.gates\[0\].query: max is missing/u,
  ],
  ['an order with four digits', { order: 1000 }, /^spec.order: must be a whole number/u],
];

test.each(BAD_INSTALLS)('parseInstall() refuses %s', (_name, change, message) => {
  const parsed = parseInstall({ name: 'web', spec: { ...install, ...change } });
  expect(parsed.type === 'invalid' ? parsed.problems.join('\n') : '').toMatch(message);
});

test('parseInstall() names every mistake', () => {
  const parsed = parseInstall({ name: 'global', spec: { version: {}, order: -1 } });
  expect(parsed).toMatchObject({ type: 'invalid', name: 'global' });
  expect(parsed.type === 'invalid' ? parsed.problems : []).toHaveLength(4);
});
