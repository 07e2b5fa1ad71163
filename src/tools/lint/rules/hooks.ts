import { QUEUED_KINDS } from '../../../hook-config/binding-kinds.ts';
import { type KubernetesBinding, queuedBindings } from '../../../hook-config/hook-config.ts';
import type { KubernetesBindingSpec } from '../../../hook-config/kubernetes-binding.ts';
import type { LintedHook } from '../lint-facts.ts';
import type { Check, Found, Rule } from '../rule.ts';
import { crontabProblem } from './manifest.ts';

/** Objects that are large, or of which there are many. */
const LARGE_KINDS = /^(?:pods?|po|secrets?|events?|ev|configmaps?|cm|endpointslices?|nodes?|no)$/i;
const SECRETS = /^secrets?$/i;
const MAX_WEBHOOK_SECONDS = 10;
const KINDS: Readonly<Record<LintedHook['transport'], string>> = {
  executable: 'an executable hook',
  'in-process': 'an in-process hook',
  http: 'an HTTP hook',
};

/** A rule about each hook. */
function ofHooks(check: (hook: LintedHook) => Iterable<string>): Check {
  return function* ({ parsed }): Iterable<Found> {
    for (const hook of parsed.hooks)
      for (const message of check(hook)) {
        const { path, part } = hook;
        yield { path, message: part === undefined ? message : `${part} ${message}` };
      }
  };
}

/** A rule about each kubernetes binding. */
function ofBindings(problem: (binding: KubernetesBinding, hook: LintedHook) => string | undefined): Check {
  return ofHooks((hook) =>
    hook.config.kubernetes.flatMap((binding) => {
      const found = problem(binding, hook);
      return found === undefined ? [] : [`binding '${binding.name}' ${found}`];
    }),
  );
}

/** Rules about hooks and their bindings. */
export const HOOK_RULES: readonly Rule[] = [
  {
    code: 'hook-config-invalid',
    level: 'error',
    summary: 'A hook prints a configuration that the operator takes.',
    explanation:
      'The message lists every mistake with its path: unknown keys, snapshots of bindings that do not exist, jq filters that do not compile, crontabs that cannot be read. For `--config` a hook prints its configuration and nothing else on stdout.',
  },
  {
    code: 'binding-without-name',
    level: 'warning',
    summary: 'Each binding of a hook with several bindings has a name.',
    explanation:
      'Contexts, logs and metrics name the binding; without a name they say `kubernetes` or `schedule`. Add `name`.',
    check: ofHooks(function* ({ config }) {
      const bindings = queuedBindings(config);
      if (bindings.length < 2) return;
      const unnamed = bindings.filter(({ name, type }) => name === type);
      for (const type of new Set(unnamed.map((binding) => binding.type)))
        yield `has a ${type} binding without a name`;
    }),
  },
  {
    code: 'binding-name-twice',
    level: 'error',
    summary: 'No two bindings of a hook have the same name.',
    explanation:
      'Snapshots are found by the name of their binding: of two with one name only one can be used, and contexts cannot be distinguished.',
    check: ofHooks(function* ({ config }) {
      for (const kind of QUEUED_KINDS) {
        const names = config[kind].map(({ name }) => name);
        for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index)))
          yield `has several bindings with the name '${name}'`;
      }
    }),
  },
  {
    code: 'jq-filter-missing',
    level: 'warning',
    summary: 'A binding for many or large objects has a jqFilter.',
    explanation:
      'Without `jqFilter` each watched object stays in memory as a whole, and every change of its status runs the hook. Filter what the hook reads, and set `keepFullObjectsInMemory: false`.',
    check: ofBindings(({ watch }) =>
      LARGE_KINDS.test(watch.kind) && watch.jqFilter === undefined && watch.keepFullObjects && isBroad(watch)
        ? `keeps all objects of kind ${watch.kind} in memory as a whole: add a jqFilter, or a selector`
        : undefined,
    ),
  },
  {
    code: 'watches-all-secrets',
    level: 'warning',
    summary: 'A binding for Secrets names their namespaces, names or labels.',
    explanation:
      'To watch all Secrets the operator must be allowed to read all of them. Add `namespace`, `nameSelector` or `labelSelector`, or exclude the finding with the reason why all are needed.',
    check: ofBindings(({ watch }) =>
      SECRETS.test(watch.kind) && isBroad(watch) ? 'watches the Secrets of all namespaces' : undefined,
    ),
  },
  {
    code: 'crontab-never',
    level: 'warning',
    summary: 'A crontab fires at some time.',
    explanation: 'No year has a 31st of February: a schedule for it never runs the hook.',
    check: ofHooks(({ config: { schedule } }) =>
      schedule.flatMap(({ name, crontab }) => {
        const problem = crontabProblem(crontab);
        return problem === undefined ? [] : [`schedule '${name}': ${problem}`];
      }),
    ),
  },
  {
    code: 'group-over-queues',
    level: 'warning',
    summary: 'The bindings of a group have one queue.',
    explanation:
      'Runs of a group are combined in their queue only: with several queues the hook runs for the same change several times.',
    check: ofHooks(function* ({ config, part }) {
      // The group of a batch hook is not its author's choice.
      if (part !== undefined) return;
      const bindings = queuedBindings(config);
      for (const group of new Set(bindings.flatMap((binding) => binding.group ?? []))) {
        const queues = new Set(
          bindings.filter((binding) => binding.group === group).map(({ queue }) => queue),
        );
        if (queues.size > 1)
          yield `group '${group}' has bindings in several queues: ${[...queues].join(', ')}`;
      }
    }),
  },
  {
    code: 'kind-unknown',
    level: 'warning',
    summary: 'A watched kind is built in, or defined in crds/.',
    explanation:
      'The hook is not started until the API server serves the kind. If a CRD comes from elsewhere, exclude the finding with that reason.',
    check: ofHooks(({ unknownKinds }) =>
      unknownKinds.map(
        (kind) => `watches ${kind}, which is neither built in nor defined in crds/ of these modules`,
      ),
    ),
  },
  {
    code: 'webhook-timeout',
    level: 'warning',
    summary: 'A webhook responds within 10 seconds.',
    explanation:
      'Clients wait for the webhook, and the API server ends whole requests after 30 to 60 seconds. Set `timeoutSeconds` to at most 10.',
    check: ofHooks(({ config: { admission } }) =>
      admission
        .filter(({ timeoutSeconds }) => timeoutSeconds > MAX_WEBHOOK_SECONDS)
        .map(({ name, timeoutSeconds }) => `webhook '${name}' may take ${timeoutSeconds} s`),
    ),
  },
  {
    code: 'setting-without-effect',
    level: 'warning',
    summary: 'Each setting of a hook has an effect.',
    explanation:
      'Exit codes are those of executables, status codes those of HTTP hooks; an in-process hook throws `TemporaryError` or `PermanentError`. A binding that runs for no events has none to hold back or to coalesce, and one of a group has one context in any case.',
    check: ofHooks(function* ({ transport, config: { settings, kubernetes } }) {
      if (settings.exitCodes !== undefined && transport !== 'executable')
        yield `has settings.exitCodes, which ${KINDS[transport]} does not use`;
      if (settings.statusCodes !== undefined && transport !== 'http')
        yield `has settings.statusCodes, which ${KINDS[transport]} does not use`;
      for (const { name, group, watch, debounce, coalesce } of kubernetes) {
        const hasNoEvents = watch.executeOnEvents.length === 0;
        if (debounce !== undefined && hasNoEvents)
          yield `binding '${name}' has debounce, but runs for no events`;
        if (coalesce === 'object' && (hasNoEvents || group !== undefined))
          yield `binding '${name}' has coalesce, but ${hasNoEvents ? 'runs for no events' : 'is in a group, which has one context a run'}`;
      }
    }),
  },
  {
    code: 'events-in-main-queue',
    level: 'warning',
    onlyWith: 'code',
    summary: 'Events have a queue of their own, or may fail.',
    explanation:
      'A hook that fails for an event is repeated at the head of its queue. In `main` all modules wait for it. Set `queue`, or `allowFailure: true`.',
    check: ofBindings(({ queue, allowFailure, watch }) =>
      queue === 'main' && !allowFailure && watch.executeOnEvents.length > 0
        ? 'has its events in the queue main, where a failure keeps all modules waiting'
        : undefined,
    ),
  },
  {
    code: 'hook-without-timeout',
    level: 'warning',
    onlyWith: 'code',
    summary: 'A hook has a time limit of its own.',
    explanation:
      'A hook that hangs keeps its queue waiting until the limit of the operator ends it, if one is set. Set `settings.timeout`.',
    check: ofHooks(function* ({ config }) {
      if (config.settings.timeoutMs === undefined) yield 'has no settings.timeout';
    }),
  },
];

function isBroad({
  namespace,
  nameSelector,
  labelSelector,
  fieldSelector = [],
}: KubernetesBindingSpec): boolean {
  const hasNamespace = namespace?.labelSelector !== undefined || (namespace?.nameSelector ?? []).length > 0;
  return (
    !hasNamespace &&
    (nameSelector ?? []).length === 0 &&
    labelSelector === undefined &&
    fieldSelector.length === 0
  );
}
