// Runs of TypeScript hooks have the same contract as those of executables: input files become the object that
// a handler gets, and its calls are recorded as the contents of the output files. So the daemon applies both
// by the same code, after the run has succeeded; a handler that throws has changed nothing.

import { type Json, type JsonObject, parseJson } from '@addon-operator/json';
import { escapeSegment, valueAt } from '@addon-operator/json/pointer';
import type { BindingContext } from './binding-contexts.ts';
import { frozen } from './frozen.ts';
import type { HookConfig } from './hook-config-types.ts';
import type {
  AdmissionResponse,
  ConversionResponse,
  HookInput,
  HookMetrics,
  HookValues,
  JsonPatchOperation,
  KubernetesOperations,
  ObjectManifest,
  ObjectReference,
  PatchOptions,
  ValuesPatchOperation,
} from './hook-input.ts';
import { hookLog } from './hook-log.ts';

/** The contents of the input files of an executable. */
export interface HookRunContents {
  readonly bindingContext: string;
  readonly values: string;
  readonly configValues: string;
  /** The span of the run, as the header `traceparent` has it; absent while traces are off. */
  readonly traceparent?: string;
}

/** The contents of the output files that an executable would have written; empty where it wrote nothing. */
export interface HookOutputContents {
  readonly configValuesPatch: string;
  readonly valuesPatch: string;
  readonly metrics: string;
  readonly kubernetesPatch: string;
  readonly admissionResponse: string;
  readonly conversionResponse: string;
}

/** The input of a run, and its outputs so far. */
export interface RecordedHookRun<C extends HookConfig> {
  readonly input: HookInput<C>;
  /** Everything recorded so far. */
  outputs(): HookOutputContents;
}

/**
 * The input of one run, and a record of what the handler does with it. Every value is written down when the method is
 * called, so later changes of it do not count, and one that JSON cannot express throws there.
 *
 * @param print gets the lines of the hook's log
 * @param signal becomes the signal of the input
 * @param parse parses and freezes values; default: anew each time
 */
export function recordHookRun<C extends HookConfig = HookConfig>(
  texts: HookRunContents,
  print: (line: string) => void,
  signal: AbortSignal,
  parse: (text: string) => unknown = parseFrozen,
): RecordedHookRun<C> {
  const patches = { values: [] as string[], config: [] as string[] };
  const metrics: string[] = [];
  const objects: string[] = [];
  const responses = { admission: '', conversion: '' };
  // Made when the handler asks for it: most use little of it, and to make all of it takes longer than a short run.
  const contexts = lazily(() => parseFrozen(texts.bindingContext) as readonly BindingContext<C>[]);
  const values = lazily(() => hookValues(() => parse(texts.values), patches.values));
  const configValues = lazily(() => hookValues(() => parse(texts.configValues), patches.config));
  const kubernetes = lazily(() => kubernetesOperations(objects));
  const metricsInput = lazily(() => hookMetrics(metrics));
  const admission = lazily(() =>
    admissionResponse((text) => {
      responses.admission = text;
    }),
  );
  const conversion = lazily(() =>
    conversionResponse((text) => {
      responses.conversion = text;
    }),
  );
  const log = lazily(() => hookLog(print));
  const input: HookInput<C> = {
    get contexts() {
      return contexts();
    },
    get values() {
      return values();
    },
    get configValues() {
      return configValues();
    },
    get kubernetes() {
      return kubernetes();
    },
    get metrics() {
      return metricsInput();
    },
    get admission() {
      return admission();
    },
    get conversion() {
      return conversion();
    },
    get log() {
      return log();
    },
    signal,
    ...(texts.traceparent !== undefined && { traceparent: texts.traceparent }),
  };
  return {
    input: Object.freeze(input),
    outputs: () => ({
      configValuesPatch: patches.config.join('\n'),
      valuesPatch: patches.values.join('\n'),
      metrics: metrics.join('\n'),
      kubernetesPatch: objects.join('\n'),
      admissionResponse: responses.admission,
      conversionResponse: responses.conversion,
    }),
  };
}

/** Makes a value at the first call and keeps it. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Frozen, since a handler that changed its input would change nothing. */
function parseFrozen(text: string): unknown {
  return frozen(parseJson(text));
}

/** JSON leaves out what it cannot express; here that would change the meaning. */
function written(what: string, value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${what}: ${typeof value} is not a JSON value`);
  return text;
}

/** Values with the methods that record patches; `data` stays as it was, also after `set`. */
function hookValues(document: () => unknown, patch: string[]): HookValues {
  const data = lazily(() => (document() ?? {}) as JsonObject);
  const record = (operation: ValuesPatchOperation): void => {
    if (operation.op !== 'remove') written(`the value for ${operation.path}`, operation.value);
    patch.push(written('an operation of a patch', operation));
  };
  return Object.freeze({
    get data() {
      return data();
    },
    get: (path) => valueAt(data(), pointerOf(path)) as Json | undefined,
    set: (path, value) => record({ op: 'add', path: pointerOf(path), value }),
    remove: (path) => record({ op: 'remove', path: pointerOf(path) }),
    patch: (operations) => {
      for (const operation of operations) record(operation);
    },
  } satisfies HookValues);
}

/** Object patches, in the order of the calls. */
function kubernetesOperations(recorded: string[]): KubernetesOperations {
  const record = (operation: string, fields: object): void => {
    recorded.push(written(`the operation ${operation}`, { operation, ...fields }));
  };
  const create = (operation: string) => (object: ObjectManifest) => record(operation, { object });
  const remove =
    (operation: string) =>
    ({ apiVersion, kind, namespace, name }: ObjectReference) =>
      record(operation, { apiVersion, kind, namespace, name });
  const patch = (
    operation: string,
    { apiVersion, kind, namespace, name }: ObjectReference,
    fields: object,
    { subresource, ignoreMissingObject }: PatchOptions = {},
  ): void =>
    record(operation, { apiVersion, kind, namespace, name, subresource, ignoreMissingObject, ...fields });
  return Object.freeze({
    create: create('Create'),
    createIfNotExists: create('CreateIfNotExists'),
    createOrUpdate: create('CreateOrUpdate'),
    delete: remove('Delete'),
    deleteInBackground: remove('DeleteInBackground'),
    deleteNonCascading: remove('DeleteNonCascading'),
    mergePatch: (target, mergePatch, options) => patch('MergePatch', target, { mergePatch }, options),
    jsonPatch: (target, jsonPatch, options) => patch('JSONPatch', target, { jsonPatch }, options),
    jqPatch: (target, jqFilter, options) => patch('JQPatch', target, { jqFilter }, options),
  } satisfies KubernetesOperations);
}

/** Metric operations, in the order of the calls. */
function hookMetrics(recorded: string[]): HookMetrics {
  const record = (operation: object): void => {
    recorded.push(written('a metric', operation));
  };
  return Object.freeze({
    set: (name, value, labels = {}, { group } = {}) => record({ action: 'set', name, value, labels, group }),
    add: (name, value, labels = {}, { group } = {}) => record({ action: 'add', name, value, labels, group }),
    observe: (name, value, labels = {}, { group, buckets = [] } = {}) =>
      record({ action: 'observe', name, value, labels, group, buckets }),
    expire: (group) => record({ action: 'expire', group }),
  } satisfies HookMetrics);
}

/** The last call wins, as the last write to a file would. */
function admissionResponse(response: (text: string) => void): AdmissionResponse {
  const encoded = (patch: readonly JsonPatchOperation[]): string =>
    Buffer.from(written('the patch', patch)).toString('base64');
  return Object.freeze({
    allow: ({ warnings = [], patch = [] } = {}) =>
      response(
        written('the answer', {
          allowed: true,
          warnings,
          ...(patch.length === 0 ? {} : { patch: encoded(patch) }),
        }),
      ),
    deny: (message, { warnings = [] } = {}) =>
      response(written('the answer', { allowed: false, message, warnings })),
  } satisfies AdmissionResponse);
}

function conversionResponse(response: (text: string) => void): ConversionResponse {
  return Object.freeze({
    converted: (convertedObjects) => response(written('the answer', { convertedObjects })),
    failed: (failedMessage) => response(written('the answer', { failedMessage })),
  } satisfies ConversionResponse);
}

/**
 * The JSON pointer for a place in the values: keys joined by dots, or a pointer already.
 *
 * @throws TypeError for anything that names no place
 */
export function pointerOf(path: string): string {
  if (typeof path !== 'string' || path === '')
    throw new TypeError('the path of a value must be a string such as web.replicas');
  if (path.startsWith('/')) return path;
  const keys = path.split('.');
  if (keys.includes('')) throw new TypeError(`the path '${path}' has an empty key`);
  return `/${keys.map(escapeSegment).join('/')}`;
}
