// The types of binding contexts, computed from a hook's configuration. If a binding is named `pods` and has a
// jqFilter, then its context has exactly this name, and its snapshots have a `filterResult`. Only types: the
// daemon makes the data (hook contract 4), and nothing here exists at run time.

import type { Json, JsonObject } from '@addon-operator/json';
import type { DeployBinding, DeployFacts } from './deploy-facts.ts';
import type { HookConfig, LifecycleBinding, WatchEvent } from './hook-config-types.ts';

/** An object of the cluster as the API has it; fields beyond the usual ones are `unknown`. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
  readonly data?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** `request` of an AdmissionReview, admission.k8s.io/v1. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly userInfo: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly object?: KubernetesObject | null;
  readonly oldObject?: KubernetesObject | null;
  readonly dryRun?: boolean;
  readonly options?: JsonObject | null;
}

/** `request` of a ConversionReview, apiextensions.k8s.io/v1. */
export interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubernetesObject[];
}

/** The item type of one list of the configuration; never if there is none. */
type ItemOf<C, K extends keyof HookConfig> = C extends { readonly [P in K]: readonly (infer Item)[] }
  ? Item
  : never;
type Kubernetes<C> = ItemOf<C, 'kubernetes'>;
/** The name of a binding, or the name of its kind if it has none. */
type NameOf<B, Default extends string> = B extends { readonly name: infer Name extends string }
  ? Name
  : Default;
/** The binding with a name. The conditional type distributes over the union of bindings. */
type Named<C, Name> = Kubernetes<C> extends infer B ? (B extends unknown ? NamedOne<B, Name> : never) : never;
type NamedOne<B, Name> = Name extends NameOf<B, 'kubernetes'> ? B : never;

/** One object of a kubernetes binding: whole unless full objects are not kept, with the filter's result if it has one. */
export type SnapshotOf<B> = (B extends { readonly keepFullObjectsInMemory: false }
  ? unknown
  : { readonly object: KubernetesObject }) &
  (B extends { readonly jqFilter: string } ? { readonly filterResult: Json } : unknown);

/** Names of all kubernetes bindings: lifecycle and deploy contexts have all snapshots. */
type AllNames<C> =
  Kubernetes<C> extends infer B ? (B extends unknown ? NameOf<B, 'kubernetes'> : never) : never;
/** Names of the bindings in a group. */
type NamesOfGroup<C, Group> =
  Kubernetes<C> extends infer B
    ? B extends { readonly group: Group }
      ? NameOf<B, 'kubernetes'>
      : never
    : never;
/** Snapshots that a binding asks for, and those of its group. */
type IncludedNames<C, B> =
  | (B extends { readonly includeSnapshotsFrom: readonly (infer Name)[] } ? Name : never)
  | (B extends { readonly group: infer Group } ? NamesOfGroup<C, Group> : never);

/** `snapshots` with these names; forbidden if there are none, so that a mistaken access does not compile. */
type WithSnapshots<C, Names> = [Names] extends [never]
  ? { readonly snapshots?: never }
  : { readonly snapshots: { readonly [N in Names & string]: readonly SnapshotOf<Named<C, N>>[] } };

type LifecycleContext<C> = {
  [B in LifecycleBinding & keyof C]: { readonly binding: B; readonly type?: never } & WithSnapshots<
    C,
    B extends 'onStartup' ? never : AllNames<C>
  >;
}[LifecycleBinding & keyof C];

type DeployContext<C> = {
  [B in DeployBinding & keyof C]: {
    readonly binding: B;
    readonly type?: never;
  } & DeployFacts[B] &
    WithSnapshots<C, AllNames<C>>;
}[DeployBinding & keyof C];

/** The one context of all bindings of a group. */
type GroupContext<C, B, Default extends string> = B extends { readonly group: infer Group }
  ? {
      readonly binding: NameOf<B, Default>;
      readonly type: 'Group';
      readonly groupName: Group;
    } & WithSnapshots<C, IncludedNames<C, B>>
  : never;

type ScheduleContext<C, B> = B extends { readonly group: string }
  ? GroupContext<C, B, 'schedule'>
  : B extends unknown
    ? { readonly binding: NameOf<B, 'schedule'>; readonly type: 'Schedule' } & WithSnapshots<
        C,
        IncludedNames<C, B>
      >
    : never;

type KubernetesContext<C, B> = B extends { readonly group: string }
  ? GroupContext<C, B, 'kubernetes'>
  : B extends unknown
    ? (
        | {
            readonly binding: NameOf<B, 'kubernetes'>;
            readonly type: 'Synchronization';
            readonly objects: readonly SnapshotOf<B>[];
          }
        | ({
            readonly binding: NameOf<B, 'kubernetes'>;
            readonly type: 'Event';
            readonly watchEvent: WatchEvent;
          } & SnapshotOf<B>)
      ) &
        WithSnapshots<C, IncludedNames<C, B>>
    : never;

type AdmissionContext<C, B, Type extends string> = B extends unknown
  ? {
      readonly binding: NameOf<B, string>;
      readonly type: Type;
      readonly review: { readonly request: AdmissionRequest };
    } & WithSnapshots<C, IncludedNames<C, B>>
  : never;

type ConversionContext<C, B> = B extends unknown
  ? {
      readonly binding: NameOf<B, string>;
      readonly type: 'Conversion';
      readonly fromVersion: string;
      readonly toVersion: string;
      readonly review: { readonly request: ConversionRequest };
    } & WithSnapshots<C, IncludedNames<C, B>>
  : never;

/** The sections that hold lists of bindings. */
type ListSection = Exclude<keyof HookConfig, LifecycleBinding | DeployBinding | 'configVersion' | 'settings'>;

interface ListContexts<C> {
  readonly schedule: ScheduleContext<C, ItemOf<C, 'schedule'>>;
  readonly kubernetes: KubernetesContext<C, Kubernetes<C>>;
  readonly kubernetesValidating: AdmissionContext<C, ItemOf<C, 'kubernetesValidating'>, 'Validating'>;
  readonly kubernetesMutating: AdmissionContext<C, ItemOf<C, 'kubernetesMutating'>, 'Mutating'>;
  readonly kubernetesCustomResourceConversion: ConversionContext<
    C,
    ItemOf<C, 'kubernetesCustomResourceConversion'>
  >;
}

/**
 * The binding contexts that a hook with configuration `C` can be given: the compiler derives them from the bindings
 * written there, with their names, groups and snapshots.
 */
export type BindingContext<C extends HookConfig = HookConfig> =
  | LifecycleContext<C>
  | DeployContext<C>
  | ListContexts<C>[ListSection];
