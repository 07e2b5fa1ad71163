import type { Json, JsonObject } from '@addon-operator/json';
import type { BindingContext } from './binding-contexts.ts';
import type { HookConfig } from './hook-config-types.ts';

/**
 * A place in the values: keys joined by dots (`web.replicas`), or a JSON pointer (`/web/replicas`) where a key itself
 * has a dot.
 */
export type ValuesPath = string;

export type ValuesPatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'test'; readonly path: string; readonly value: unknown };

/** Values as they were when the run began, and changes to them, which are applied when the run has succeeded. */
export interface HookValues {
  /** The whole document, frozen: the global section, and for module hooks that of the module. */
  readonly data: JsonObject;
  /** The value at a place, frozen; undefined if there is none. */
  get(path: ValuesPath): Json | undefined;
  /** Sets a value; the mapping it is put into must exist. */
  set(path: ValuesPath, value: unknown): void;
  /** Removes a value, which must exist. */
  remove(path: ValuesPath): void;
  /** Adds operations of a JSON patch as they are. */
  patch(operations: readonly ValuesPatchOperation[]): void;
}

export interface ObjectReference {
  /** Default: the preferred version of the kind. */
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** An object to be created. */
export interface ObjectManifest {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

export interface PatchOptions {
  /** For instance `status`; default the object itself. */
  readonly subresource?: string;
  /** A missing object is no failure. Default false. */
  readonly ignoreMissingObject?: boolean;
}

/** Changes to objects in the cluster, made in this order when the run has succeeded. */
export interface KubernetesOperations {
  create(object: ObjectManifest): void;
  createIfNotExists(object: ObjectManifest): void;
  createOrUpdate(object: ObjectManifest): void;
  /** Waits until the object and what depends on it are gone. */
  delete(target: ObjectReference): void;
  deleteInBackground(target: ObjectReference): void;
  deleteNonCascading(target: ObjectReference): void;
  mergePatch(target: ObjectReference, patch: Readonly<Record<string, unknown>>, options?: PatchOptions): void;
  jsonPatch(target: ObjectReference, operations: readonly JsonPatchOperation[], options?: PatchOptions): void;
  jqPatch(target: ObjectReference, jqFilter: string, options?: PatchOptions): void;
}

export type MetricLabels = Readonly<Record<string, string>>;

export interface MetricOptions {
  /** Metrics of one group are replaced together by the next run that writes to it. */
  readonly group?: string;
}

/** Metrics of the hook, as `/metrics/hooks` shows them. */
export interface HookMetrics {
  /** Sets a gauge. */
  set(name: string, value: number, labels?: MetricLabels, options?: MetricOptions): void;
  /** Adds to a counter. */
  add(name: string, value: number, labels?: MetricLabels, options?: MetricOptions): void;
  /** Puts a value into a histogram. */
  observe(
    name: string,
    value: number,
    labels?: MetricLabels,
    options?: MetricOptions & {
      /** Default: those of the Prometheus libraries, 5 ms to 10 s. */
      readonly buckets?: readonly number[];
    },
  ): void;
  /** Removes all metrics of a group; without one, of the hook's own. */
  expire(group?: string): void;
}

/** The response to a request of a `kubernetesValidating` or `kubernetesMutating` binding; the last one counts. */
export interface AdmissionResponse {
  allow(options?: {
    readonly warnings?: readonly string[];
    /** Changes of the object, for mutating bindings. */
    readonly patch?: readonly JsonPatchOperation[];
  }): void;
  deny(message: string, options?: { readonly warnings?: readonly string[] }): void;
}

/** The response to a request of a `kubernetesCustomResourceConversion` binding; the last one counts. */
export interface ConversionResponse {
  converted(objects: readonly Readonly<Record<string, unknown>>[]): void;
  failed(message: string): void;
}

type LogMethod = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** The daemon's log; fields are shown with the prefix `hook_`. `console` works too, a line a record. */
export interface HookLog {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
}

/** The argument of a handler. All data are frozen; changes are made by methods and take effect only if the run succeeds. */
export interface HookInput<C extends HookConfig = HookConfig> {
  /** Why the hook is run; several events may share one run. */
  readonly contexts: readonly BindingContext<C>[];
  readonly values: HookValues;
  /** Values of the user, from the ConfigMap; changes are written back there. */
  readonly configValues: HookValues;
  readonly kubernetes: KubernetesOperations;
  readonly metrics: HookMetrics;
  readonly admission: AdmissionResponse;
  readonly conversion: ConversionResponse;
  readonly log: HookLog;
  /** The span of this run, as the header `traceparent` has it (W3C Trace Context); absent while traces are off. */
  readonly traceparent?: string;
  /** Aborts when the run is to end: its time is up, or the daemon stops. */
  readonly signal: AbortSignal;
}

export type HookHandler<C extends HookConfig = HookConfig> = (input: HookInput<C>) => void | Promise<void>;
