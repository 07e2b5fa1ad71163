/**
 * The fields of ModuleSource and ModuleInstall, declared once: the check of a document, the type of a valid one, and the
 * schema with CEL rules of the CRD come from here. What a schema cannot say is checked here only, and named in a condition.
 */

import {
  count,
  exactObject,
  fields,
  flag,
  listOf,
  number,
  type Shape,
  type Shaped,
  text,
  textLike,
  word,
} from '@addon-operator/json/shape';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import semverValid from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';
import { isTimeZone } from './zone-time.ts';

/** A string with a rule of its own. `cel` says the same to the API server, where it can be said there. */
interface Rule {
  readonly test: (value: string) => boolean;
  readonly message: string;
  readonly cel?: string;
}

function ruled(description: string, { test, message, cel }: Rule): Shape<string> {
  const validations = cel === undefined ? {} : { 'x-kubernetes-validations': [{ rule: cel, message }] };
  return {
    schema: { type: 'string', description, ...validations },
    check: (value, path, report) => {
      if (typeof value !== 'string' || !test(value)) report(path, message);
    },
  };
}

/** A mapping with a rule between its fields, which is checked when each of them is valid. */
function relating<T>(shape: Shape<T>, rule: { test: (value: T) => boolean; message: string; cel: string }) {
  const { test, message, cel } = rule;
  return {
    schema: { ...shape.schema, 'x-kubernetes-validations': [{ rule: cel, message }] },
    check: (value, path, report) => {
      let isValid = true;
      shape.check(value, path, (...problem) => {
        isValid = false;
        report(...problem);
      });
      if (isValid && !test(value as T)) report(path, message);
    },
  } satisfies Shape<T> as Shape<T>;
}

const MAX_DURATION_MS = 365 * 24 * 3_600_000;

function duration(description: string, least: string): Shape<string> {
  const leastMs = parseGoDuration(least) ?? 0;
  return ruled(description, {
    test: (value) => {
      const ms = parseGoDuration(value);
      return ms !== undefined && ms >= leastMs && ms <= MAX_DURATION_MS;
    },
    message: `must be a duration from ${least} to a year, such as 30s, 10m or 24h`,
    cel: `self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('${least}') && duration(self) <= duration('8760h')`,
  });
}

const SOURCE_URL = /^(?:oci:\/\/[^/?#@\s]+(?:\/[^/?#@\s]+)*|oci-layout:\/\/\/[^?#\s]+)$/u;
const sourceUrl = (description: string): Shape<string> =>
  ruled(description, {
    test: (value) => SOURCE_URL.test(value),
    message: 'must be oci://HOST/PATH or oci-layout:///DIRECTORY, without credentials and tag',
    cel: String.raw`self.matches('^(oci://[^/?#@\\s]+(/[^/?#@\\s]+)*|oci-layout:///[^?#\\s]+)$')`,
  });

const DIGEST = { pattern: /^sha256:[0-9a-f]{64}$/u, name: 'sha256: and 64 hexadecimal digits' };
const TIME_OF_DAY = { pattern: /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/u, name: 'a time of day such as 09:00' };
const END_OF_WINDOW = {
  pattern: /^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/u,
  name: 'a time of day such as 16:00, or 24:00',
};
const DATE_OR_TIME = {
  pattern:
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/u,
  name: 'a date such as 2026-12-01 (from its start in UTC), or a time such as 2026-12-01T08:00:00Z',
};
const CHANNEL = { pattern: /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/u, name: 'the name of a tag' };

const secretRef = fields({ name: text('Name of the Secret.') }, { required: ['name'] });
const objectKey = (kind: string) =>
  fields(
    { name: text(`Name of the ${kind}.`), key: text('Its key; may be absent if it has only one.') },
    { required: ['name'] },
  );
const keyRefs = { configMapRef: objectKey('ConfigMap'), secretRef: objectKey('Secret') };
const keyRef = fields(keyRefs, { oneOf: ['configMapRef', 'secretRef'] }, 'In the namespace of the operator.');

/** `spec` of a ModuleSource. */
export const SOURCE_SHAPE = fields(
  {
    url: sourceUrl('Where the repositories of the modules are: the module web is URL/web.'),
    interval: duration('How often versions are looked up, give or take a tenth. Default 10m.', '10s'),
    timeout: duration('Limit of one request to the registry. Default 2m.', '1s'),
    auth: fields(
      {
        secretRef,
        credentialProvider: textLike('Name of a credential provider of the kubelet, such as ecr.', {
          pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/u,
          name: 'the name of an executable',
        }),
      },
      { oneOf: ['secretRef', 'credentialProvider'] },
      'Default: anonymous. The Secret has the type kubernetes.io/dockerconfigjson.',
    ),
    tls: fields({ ca: keyRef }, {}, 'ca: certificates that the registry is checked with.'),
    mirrors: listOf(
      sourceUrl('Tried in order before the url.'),
      'Content by digest is read from these first.',
    ),
    verify: fields(
      {
        keyring: keyRef,
        cosign: exactObject(
          { keys: listOf(keyRef, 'One of them must have signed.', 1) },
          'Public keys in PEM.',
        ),
      },
      {},
      'Who must have signed the modules; all that is named must hold.',
    ),
  },
  { required: ['url'] },
);

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

const updateWindow = relating(
  fields(
    {
      days: listOf(word('A day on which the window opens.', DAYS), 'Default: every day.', 1),
      from: textLike('Time of day on the clock of the zone.', TIME_OF_DAY),
      to: textLike('Not after this; the next day, if it is before `from`.', END_OF_WINDOW),
      timeZone: ruled('IANA name such as Europe/Berlin. Default UTC.', {
        test: isTimeZone,
        message: 'must be the name of a time zone, such as Europe/Berlin or UTC',
        cel: "timestamp('2024-01-01T00:00:00Z').getFullYear(self) > 0",
      }),
    },
    { required: ['from', 'to'] },
  ),
  {
    test: ({ from, to }) => from !== to && !(from === '00:00' && to === '00:00'),
    message: 'never opens, since from and to are equal: use 00:00 and 24:00 for a whole day',
    cel: 'self.from != self.to',
  },
);

const gate = fields(
  {
    ready: duration('The module and all objects of its release must be ready for so long.', '0s'),
    query: fields(
      {
        url: ruled('Base address of the Prometheus API.', {
          test: (value) => /^https?:\/\/[^@\s]+$/u.test(value) && URL.canParse(value),
          message: 'must be an address such as http://prometheus.monitoring:9090, without credentials',
          cel: String.raw`self.matches('^https?://[^@\\s]+$')`,
        }),
        promql: text('A query with one value.'),
        max: number('The largest good value.'),
        for: duration('The value must be good for so long. Default 0s.', '0s'),
        noData: word('What no value means. Default hold: neither good nor bad.', ['hold', 'pass', 'fail']),
      },
      { required: ['url', 'promql', 'max'] },
    ),
  },
  { oneOf: ['ready', 'query'] },
);

/** `spec` of a ModuleInstall. */
export const INSTALL_SHAPE = fields(
  {
    source: text('Name of a ModuleSource.'),
    order: count('Place in the order of modules. Default 100.', 999),
    version: fields(
      {
        channel: textLike('A tag that is moved to new versions, such as stable.', CHANNEL),
        range: ruled('The highest version in a range of npm, such as ~1.4.', {
          test: (value) => value.trim() !== '' && validRange(value) !== null,
          message: 'must be a range of versions such as ~1.4 or ">=1.2 <2"',
          cel: "self.trim() != ''",
        }),
        exact: ruled('One version.', {
          test: (value) => semverValid(value) !== null && /^[0-9]/u.test(value),
          message: 'must be a version such as 1.4.2',
          cel: "self.matches('^[0-9]+[.][0-9]+[.][0-9]+([-+][0-9A-Za-z.+-]+)?$')",
        }),
        digest: textLike('One manifest.', DIGEST),
      },
      { oneOf: ['channel', 'range', 'exact', 'digest'] },
    ),
    update: fields({
      mode: word('auto: every update; patch: of the same minor version; manual: after approval.', [
        'auto',
        'patch',
        'manual',
      ]),
      windows: listOf(updateWindow, 'Updates begin only while one of them is open.'),
      soak: duration('Least age of a version in its channel, from when it was first seen.', '0s'),
    }),
    approved: textLike('Written by `module approve`: a digest, never a tag.', DIGEST),
    approval: fields({
      at: textLike('When it was approved; a new time approves a digest again that has failed.', DATE_OR_TIME),
      now: flag('Without waiting for a window.'),
    }),
    hold: fields(
      {
        reason: ruled('Why the version stays.', {
          test: (value) => value.trim() !== '',
          message: 'must say why the version stays',
          cel: "self.trim() != ''",
        }),
        until: textLike('When the hold ends by itself.', DATE_OR_TIME),
      },
      { required: ['reason'] },
      'While it is there no version is installed.',
    ),
    gates: listOf(gate, 'What must hold after an update. Default: the module is ready once.'),
    onFailure: fields({
      rollback: flag('Return to the last good version, once for each digest.'),
      after: duration('A version that has not passed its gates by then has failed. Default 15m.', '1s'),
    }),
  },
  { required: ['source', 'version'] },
);

/** `spec` of a ModuleSource, as it was written. */
export type SourceSpec = Shaped<typeof SOURCE_SHAPE>;
/** `spec` of a ModuleInstall, as it was written. */
export type InstallSpec = Shaped<typeof INSTALL_SHAPE>;
export type KeyRef = Shaped<typeof keyRef>;
export type UpdateWindow = Shaped<typeof updateWindow>;
