import { errorFields } from '../lib/errors.ts';
import type { Redactor } from '../lib/redactor.ts';
import { finishDeletion } from '../operator/finish-deletion.ts';
import { moduleFacts } from '../operator/module-facts.ts';
import type { Operator } from '../operator/operator.ts';
import type { Settings } from '../settings.ts';
import type { ModuleFacts } from '../status/module-facts.ts';
import { ModuleObjects } from '../status/module-objects.ts';
import type { BaseParts } from './base-parts.ts';
import type { DaemonHost } from './host.ts';

/** For what has changed when the daemon ends. */
const LAST_WRITES_MS = 10_000;

export interface ModuleObjectsPartOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly base: BaseParts;
  readonly operator: () => Operator | undefined;
  readonly redactor: Redactor;
}

/** The mirror of modules in the cluster; undefined when the settings switch it off. Nothing runs yet. */
export function createModuleObjects(options: ModuleObjectsPartOptions): ModuleObjects | undefined {
  const { settings, host, base, operator, redactor } = options;
  if (!settings.keepsModuleObjects) return undefined;
  return new ModuleObjects({
    kube: base.cluster.status,
    reflectors: base.reflectors,
    clock: host.clock,
    log: host.log,
    namespace: settings.namespace,
    configMapName: settings.configMapName,
    finishDeletion: async (module, signal) => {
      const known = operator();
      return known === undefined ? 'too early' : await finishDeletion(known, module, signal);
    },
    mayRemove: () => (operator()?.converge.purge ?? 'undecided') !== 'undecided',
    redact: (text) => redactor.text(text),
    facts: () => {
      const known = operator();
      if (known === undefined) return [];
      // The same shape comes back: only texts are replaced.
      return redactor.data(moduleFacts(known)) as readonly ModuleFacts[];
    },
  });
}

/** Runs the mirror, if there is one, until the daemon ends; what it shows last is how the last runs ended. */
export function runModuleObjects(
  objects: ModuleObjects | undefined,
  { shutdownGraceMs }: Settings,
  { clock, log }: DaemonHost,
  running: AsyncDisposableStack,
): void {
  if (objects === undefined) return;
  const ending = new AbortController();
  const abort = new AbortController();
  const ended = objects.run(ending.signal, abort.signal).catch((error: unknown) => {
    if (!abort.signal.aborted) log.error(errorFields(error), 'Module objects are no longer updated');
  });
  running.defer(async () => {
    ending.abort();
    const done = new AbortController();
    const limit = clock.sleep(Math.min(LAST_WRITES_MS, shutdownGraceMs), done.signal).then(
      () => log.warn({}, 'Module objects may not show the results of the last runs: the API server is slow'),
      () => undefined,
    );
    await Promise.race([ended, limit]);
    done.abort();
    abort.abort();
    await Promise.all([ended, limit]);
  });
}
