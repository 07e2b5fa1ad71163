import type { HookConfig as AuthoredConfig, LifecycleBinding } from '@addon-operator/sdk';
import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';

export type { LifecycleBinding } from '@addon-operator/sdk';

/** Whose hook it is decides which lifecycle bindings it may have. */
export type HookScope = 'global' | 'module';

interface LifecycleStep {
  readonly scopes: readonly HookScope[];
  /** The operation that its hooks are a part of: the start of the operator or the module, each converge, or the deletion of the module. */
  readonly of: 'start' | 'converge' | 'deletion';
}

/** The lifecycle bindings, in the order of a module's life. */
const LIFECYCLE_STEPS = {
  onStartup: { scopes: ['global', 'module'], of: 'start' },
  beforeAll: { scopes: ['global'], of: 'converge' },
  beforeHelm: { scopes: ['module'], of: 'converge' },
  afterHelm: { scopes: ['module'], of: 'converge' },
  afterAll: { scopes: ['global'], of: 'converge' },
  beforeDeleteHelm: { scopes: ['module'], of: 'deletion' },
  afterDeleteHelm: { scopes: ['module'], of: 'deletion' },
} as const satisfies Readonly<Record<LifecycleBinding, LifecycleStep>>;

export const LIFECYCLE_BINDINGS = Object.keys(LIFECYCLE_STEPS) as readonly LifecycleBinding[];

/** The lifecycle bindings that hooks of one owner may have. */
export function lifecycleBindingsOf(scope: HookScope): readonly LifecycleBinding[] {
  return LIFECYCLE_BINDINGS.filter((binding) => stepOf(binding)?.scopes.includes(scope));
}

/** Whether a binding is part of each converge, as `beforeHelm` is. */
export function isPartOfConverge(binding: BindingType): boolean {
  return stepOf(binding)?.of === 'converge';
}

/** Whether a binding is part of the deletion of a module. */
export function isPartOfDeletion(binding: BindingType): boolean {
  return stepOf(binding)?.of === 'deletion';
}

function stepOf(binding: BindingType): LifecycleStep | undefined {
  return binding in LIFECYCLE_STEPS ? LIFECYCLE_STEPS[binding as LifecycleBinding] : undefined;
}

/** Who needs the result of a run: none, a task or a deployment of the operator, or a client of a webhook. */
type Waiting = 'none' | 'operator' | 'client';

/** Triggers of the converge, or of the run of the module, that applies changed values. */
interface ChangeTriggers {
  readonly global: string;
  readonly module: string;
}

interface KindFacts {
  /** Its keys in the configuration of a hook, and the values of the label `binding` of metrics, logs and traces. */
  readonly sections: readonly (keyof AuthoredConfig)[];
  /** Content of a section: the order of the hook among others, or a list of bindings with names. */
  readonly form: 'order' | 'list';
  /** Where its runs wait: in `main`, in the queue that the binding names, or in none, since they are part of something else. */
  readonly queue: 'main' | 'named' | 'none';
  /** Whether runs of one hook that follow each other in a queue become one. */
  readonly isCombined: boolean;
  /** Owner of the count of failures in a row: the retry budget of a queue or of a binding, the requests of a webhook, or the deployment. */
  readonly failuresOf: 'queue' | 'binding' | 'requests' | 'deployment';
  /** Whether its hooks may change values and enabled flags. */
  readonly mayChangeValues: boolean;
  /** Triggers of what follows when its hooks change values; undefined: nothing follows by itself. */
  readonly changeTriggers: ChangeTriggers | undefined;
  /** The reasons for which its hooks are run, each with who waits for the run. */
  readonly reasons: Readonly<Record<string, Waiting>>;
}

/**
 * The kinds of bindings, one a row: what is decided by the kind of a binding is read here, so a new kind is one row. The
 * compiler then names what else it needs: types for authors, schema, parser, and the contexts of its runs. A decision
 * about more than a kind, such as the order in a queue, is made where it is needed.
 */
export const BINDING_KINDS = {
  lifecycle: {
    sections: LIFECYCLE_BINDINGS,
    form: 'order',
    queue: 'main',
    isCombined: false,
    failuresOf: 'binding',
    mayChangeValues: true,
    changeTriggers: undefined,
    reasons: { lifecycle: 'operator' },
  },
  deploy: {
    sections: DEPLOY_BINDINGS,
    form: 'order',
    queue: 'none',
    isCombined: false,
    failuresOf: 'deployment',
    mayChangeValues: false,
    changeTriggers: undefined,
    reasons: { deploy: 'operator' },
  },
  kubernetes: {
    sections: ['kubernetes'],
    form: 'list',
    queue: 'named',
    isCombined: true,
    failuresOf: 'queue',
    mayChangeValues: true,
    changeTriggers: { global: 'Kubernetes-Change-GlobalValues', module: 'Kubernetes-Change-ModuleValues' },
    reasons: { synchronization: 'operator', event: 'none' },
  },
  schedule: {
    sections: ['schedule'],
    form: 'list',
    queue: 'named',
    isCombined: true,
    failuresOf: 'queue',
    mayChangeValues: true,
    changeTriggers: { global: 'Schedule-Change-GlobalValues', module: 'Schedule-Change-ModuleValues' },
    reasons: { schedule: 'none' },
  },
  admission: {
    sections: ['kubernetesValidating', 'kubernetesMutating'],
    form: 'list',
    queue: 'none',
    isCombined: false,
    failuresOf: 'requests',
    mayChangeValues: true,
    changeTriggers: { global: 'Webhook-Change-GlobalValues', module: 'Webhook-Change-ModuleValues' },
    reasons: { admission: 'client' },
  },
  conversion: {
    sections: ['kubernetesCustomResourceConversion'],
    form: 'list',
    queue: 'none',
    isCombined: false,
    failuresOf: 'requests',
    mayChangeValues: true,
    changeTriggers: { global: 'Webhook-Change-GlobalValues', module: 'Webhook-Change-ModuleValues' },
    reasons: { conversion: 'client' },
  },
} as const satisfies Readonly<Record<string, KindFacts>>;

type Kinds = typeof BINDING_KINDS;
export type BindingKind = keyof Kinds;

/** The kinds with a value in a column. */
type KindsWith<Column extends keyof KindFacts, Value> = {
  [K in BindingKind]: Kinds[K] extends Readonly<Record<Column, Value>> ? K : never;
}[BindingKind];

/** Kinds whose section is a list, by which a parsed configuration has a list too. */
export type ListKind = KindsWith<'form', 'list'>;
/** Kinds whose bindings name a queue. */
export type QueuedKind = KindsWith<'queue', 'named'>;

/** Kinds whose runs are requests to webhooks. */
export type WebhookKind = KindsWith<'failuresOf', 'requests'>;

/** A key of the configuration of a hook. */
export type SectionOf<K extends BindingKind> = Kinds[K]['sections'][number];
export type BindingType = SectionOf<BindingKind>;

/** The reasons for runs of one kind. */
export type ReasonOf<K extends BindingKind> = { [Kind in K]: keyof Kinds[Kind]['reasons'] }[K];
/** Why a hook is run: for an event, a tick, a request … */
export type ReasonType = ReasonOf<BindingKind>;

interface TypedReason {
  readonly type: ReasonType;
}

const ROWS: readonly (readonly [BindingKind, KindFacts])[] = Object.entries(BINDING_KINDS) as never;

const BY_SECTION = Object.fromEntries(
  ROWS.flatMap(([, facts]) => facts.sections.map((section) => [section, facts])),
) as Readonly<Record<BindingType, KindFacts>>;

const BY_REASON = Object.fromEntries(
  ROWS.flatMap(([, facts]) => Object.keys(facts.reasons).map((reason) => [reason, facts])),
) as Readonly<Record<ReasonType, KindFacts>>;

export const LIST_KINDS = ROWS.filter(([, { form }]) => form === 'list').map(
  ([kind]) => kind,
) as readonly ListKind[];

export const QUEUED_KINDS = ROWS.filter(([, { queue }]) => queue === 'named').map(
  ([kind]) => kind,
) as readonly QueuedKind[];

/** The sections that hold an order: lifecycle and deploy bindings. */
export const ORDER_SECTIONS = ROWS.flatMap(([, { form, sections }]) =>
  form === 'order' ? sections : [],
) as readonly SectionOf<Exclude<BindingKind, ListKind>>[];

/** The row of a binding. */
export function kindFactsOf(section: BindingType): KindFacts {
  return BY_SECTION[section];
}

/** Whether runs are part of something else, which alone knows what their contexts hold: a request or a deployment. */
export function isBesideQueues(reasons: readonly TypedReason[]): boolean {
  return reasons.some(({ type }) => BY_REASON[type].queue === 'none');
}

/** Whether a client of a webhook waits for the run. */
export function isAwaitedByClient(reasons: readonly TypedReason[]): boolean {
  return reasons.some(({ type }) => waitingFor(type) === 'client');
}

/** Whether nothing waits for the run: it may be combined with others of its queue, moved, or dropped. */
export function isIndependent(reasons: readonly TypedReason[]): boolean {
  return reasons.every(({ type }) => waitingFor(type) === 'none');
}

function waitingFor(reason: ReasonType): Waiting | undefined {
  return BY_REASON[reason].reasons[reason];
}
