/**
 * From documents of ModuleSource and ModuleInstall to what the controller works with: defaults set, durations in
 * milliseconds. Pure, and the same for objects of the cluster and for `--module-sources`. Every mistake is named with its field.
 */

import { messageOf } from '@addon-operator/base/errors';
import { problemAt, type Shape } from '@addon-operator/json/shape';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { parseModuleName } from '../modules/module-name.ts';
import type { Gate } from './gates.ts';
import {
  INSTALL_SHAPE,
  type InstallSpec,
  type KeyRef,
  SOURCE_SHAPE,
  type SourceSpec,
  type UpdateWindow,
} from './spec-shapes.ts';

/** A document or an object, of which nothing is checked but the name. */
export interface SpecDocument {
  readonly name: string;
  /** `metadata.generation`; undefined for the form as a file. */
  readonly generation?: number | undefined;
  readonly spec: unknown;
}

/** A document that was checked. Problems name the field and what to do. */
export type Parsed<T> =
  | { readonly type: 'valid'; readonly value: T }
  | {
      readonly type: 'invalid';
      readonly name: string;
      readonly generation?: number | undefined;
      readonly problems: readonly string[];
    };

/** Where modules come from. */
export interface Source {
  readonly name: string;
  readonly generation: number | undefined;
  readonly url: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly mirrors: readonly string[];
  readonly auth: SourceSpec['auth'];
  readonly ca: KeyRef | undefined;
  readonly verify: { readonly keyring: KeyRef | undefined; readonly cosignKeys: readonly KeyRef[] };
}

/** Which version is wanted. */
export type WantedVersion =
  | { readonly type: 'channel'; readonly channel: string }
  | { readonly type: 'range'; readonly range: string }
  | { readonly type: 'exact'; readonly version: string }
  | { readonly type: 'digest'; readonly digest: string };

/** A module that comes from a source. */
export interface Install {
  readonly name: string;
  readonly generation: number | undefined;
  readonly source: string;
  /** The name of its link, such as `030-web`. */
  readonly entry: string;
  readonly wanted: WantedVersion;
  readonly mode: 'auto' | 'patch' | 'manual';
  readonly windows: readonly UpdateWindow[];
  readonly soakMs: number;
  readonly approval: Approval | undefined;
  readonly hold: { readonly reason: string; readonly untilMs: number | undefined } | undefined;
  readonly gates: readonly Gate[];
  readonly onFailure: { readonly rollback: boolean; readonly afterMs: number };
}

/** The approval of a person. */
export interface Approval {
  readonly digest: string;
  /** Different for each approval, so that a failed digest can be approved again. */
  readonly id: string;
  /** Without waiting for a window. */
  readonly now: boolean;
}

const DEFAULT_ORDER = 100;
const DEFAULT_INTERVAL = '10m';
const DEFAULT_TIMEOUT = '2m';
const DEFAULT_AFTER = '15m';
const MAX_NAME_CHARACTERS = 200;

/** Checks a ModuleSource. */
export function parseSource(document: SpecDocument): Parsed<Source> {
  const { name, generation } = document;
  return checked(document, SOURCE_SHAPE, [], (spec) => ({
    name,
    generation,
    url: spec.url,
    intervalMs: msOf(spec.interval ?? DEFAULT_INTERVAL),
    timeoutMs: msOf(spec.timeout ?? DEFAULT_TIMEOUT),
    mirrors: spec.mirrors ?? [],
    auth: spec.auth,
    ca: spec.tls?.ca,
    verify: { keyring: spec.verify?.keyring, cosignKeys: spec.verify?.cosign?.keys ?? [] },
  }));
}

/** Checks a ModuleInstall, whose name is that of the module. */
export function parseInstall(document: SpecDocument): Parsed<Install> {
  const { name, generation } = document;
  return checked(document, INSTALL_SHAPE, nameProblems(name), (spec) => ({
    name,
    generation,
    source: spec.source,
    entry: `${String(spec.order ?? DEFAULT_ORDER).padStart(3, '0')}-${name}`,
    wanted: wantedOf(spec.version),
    mode: spec.update?.mode ?? 'auto',
    windows: spec.update?.windows ?? [],
    soakMs: msOf(spec.update?.soak ?? '0s'),
    approval: approvalOf(spec),
    hold: spec.hold && {
      reason: spec.hold.reason,
      untilMs: spec.hold.until === undefined ? undefined : Date.parse(spec.hold.until),
    },
    gates: gatesOf(spec.gates),
    onFailure: {
      rollback: spec.onFailure?.rollback ?? false,
      afterMs: msOf(spec.onFailure?.after ?? DEFAULT_AFTER),
    },
  }));
}

function checked<Spec, T>(
  { name, generation, spec }: SpecDocument,
  shape: Shape<Spec>,
  ofName: readonly string[],
  make: (spec: Spec) => T,
): Parsed<T> {
  const problems = [...ofName];
  shape.check(spec, ['spec'], (path, message) => problems.push(problemAt(path, message)));
  if (problems.length > 0) return { type: 'invalid', name, generation, problems };
  return { type: 'valid', value: make(spec as Spec) };
}

function nameProblems(name: string): readonly string[] {
  if (name.length > MAX_NAME_CHARACTERS)
    return [`metadata.name: must have at most ${MAX_NAME_CHARACTERS} characters`];
  try {
    parseModuleName(name);
    return [];
  } catch (error) {
    return [`metadata.name: ${messageOf(error)}`];
  }
}

function wantedOf({ channel, range, exact, digest }: InstallSpec['version']): WantedVersion {
  if (channel !== undefined) return { type: 'channel', channel };
  if (range !== undefined) return { type: 'range', range };
  if (exact !== undefined) return { type: 'exact', version: exact };
  return { type: 'digest', digest: digest ?? '' };
}

function approvalOf({ approved, approval }: InstallSpec): Approval | undefined {
  if (approved === undefined) return undefined;
  return { digest: approved, id: `${approved}@${approval?.at ?? ''}`, now: approval?.now === true };
}

/** Without gates a version is good as soon as its module is ready. */
function gatesOf(gates: InstallSpec['gates']): readonly Gate[] {
  const given = gates ?? [];
  if (given.length === 0) return [{ type: 'ready', forMs: 0 }];
  return given.map(({ ready, query }): Gate => {
    if (query === undefined) return { type: 'ready', forMs: msOf(ready ?? '0s') };
    const { url, promql, max, for: forText, noData = 'hold' } = query;
    return { type: 'query', url, promql, max, forMs: msOf(forText ?? '0s'), noData };
  });
}

function msOf(duration: string): number {
  return parseGoDuration(duration) ?? 0;
}
