import type { RevisionSummary } from '@addon-operator/helm/release-history';
import type { JsonObject } from '@addon-operator/json';
import type { Releases } from '../../src/model/releases.ts';
import type { Module } from '../../src/modules/module.ts';

/** What is known of the releases in a lab, and what is in their way. */
interface ReleasesInLab {
  readonly releases: Set<string>;
  readonly foreignReleases: Set<string>;
  readonly keptReleases: Set<string>;
  /** Of each release, the newest first; a run of the same version makes none. */
  readonly revisions: Map<string, readonly RevisionSummary[]>;
  readonly obstacles: ReadonlyMap<string, () => void | Promise<void>>;
  globalChanges: number;
}

/**
 * Releases that are names in a set.
 *
 * @param call notes what was asked for, and throws what the test planned for it
 */
export function labReleases(
  lab: ReleasesInLab,
  call: (what: string, detail?: string) => Promise<void>,
): Releases {
  return {
    prepare: () => Promise.resolve(),
    preflight: async (module) => {
      await call(`preflight ${module.name}`);
      return [];
    },
    forgetReads: () => undefined,
    onGlobalChange: async () => {
      lab.globalChanges += 1;
    },
    deploy: async (module: Module, values: JsonObject, { steps, isForced }, signal) => {
      await steps?.beforeApply([], signal);
      const what = `${isForced === true ? 'force' : 'deploy'} ${module.name}`;
      const version = module.version ?? '';
      const [newest] = lab.revisions.get(module.name) ?? [];
      try {
        await orAborted(call(what, JSON.stringify(values[module.key])), signal);
      } catch (error) {
        addRevision(lab, module.name, { version, outcome: 'failed' });
        throw error;
      }
      if (newest?.version !== version || newest.outcome === 'failed')
        addRevision(lab, module.name, { version, outcome: 'running' });
      const revision = lab.releases.has(module.name) ? 2 : 1;
      lab.releases.add(module.name);
      await steps?.afterApply({ revision, objects: [], added: [] }, signal);
      return { revision, digest: undefined };
    },
    revision: async (release: string) => {
      await lab.obstacles.get(`revision ${release}`)?.();
      return lab.releases.has(release) ? 1 : 0;
    },
    exists: async (release: string) => {
      await lab.obstacles.get(`exists ${release}`)?.();
      return lab.releases.has(release);
    },
    uninstall: async (release: string, { includeForeign }: { readonly includeForeign: boolean }) => {
      await call(`uninstall ${release}`);
      if (lab.foreignReleases.has(release) && !includeForeign) return 'spared' as const;
      return lab.releases.delete(release) ? ('uninstalled' as const) : ('absent' as const);
    },
    rollback: async ({ name }: Module, revision: number, signal) => {
      await orAborted(call(`rollback ${name} ${revision}`), signal);
      const target = lab.revisions.get(name)?.find((one) => one.revision === revision);
      const reason = `Rollback to ${revision}`;
      const added = { version: target?.version ?? '', outcome: 'running', reason } as const;
      return { revision: addRevision(lab, name, added), digest: undefined };
    },
    history: {
      list: async (name: string) => lab.revisions.get(name) ?? [],
      source: async () => undefined,
    },
    keep: async (release: string, isKept: boolean) => {
      await call(`${isKept ? 'keep' : 'let go'} ${release}`);
      if (isKept) lab.keptReleases.add(release);
      else lab.keptReleases.delete(release);
    },
    disown: async (release: string) => {
      await call(`disown ${release}`);
      lab.releases.delete(release);
      lab.foreignReleases.add(release);
    },
    unlock: async (release: string) => {
      await call(`unlock ${release}`);
      return lab.releases.has(release)
        ? ({ type: 'unlocked', state: 'pending-upgrade', revision: 1 } as const)
        : ({ type: 'absent' } as const);
    },
    list: async () => {
      const owned = [...lab.releases].map((release) => ({
        name: release,
        revision: 1,
        status: 'deployed' as const,
        isOwned: true,
        ...(lab.keptReleases.has(release) && { isKept: true }),
      }));
      const foreign = [...lab.foreignReleases].map((other) => ({
        name: other,
        revision: 1,
        status: 'deployed' as const,
        isOwned: false,
      }));
      return [...owned, ...foreign];
    },
    pauseMonitor: () => () => undefined,
    drift: () => undefined,
    recheckDrift: () => undefined,
    stopMonitor: async () => undefined,
  };
}

/** As helm does: it is stopped, and the caller gets that error. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Adds a revision as helm does, and returns its number. */
function addRevision(
  { revisions }: ReleasesInLab,
  name: string,
  added: Pick<RevisionSummary, 'version' | 'outcome'> & { readonly reason?: string },
): number {
  const known = revisions.get(name) ?? [];
  const revision = known.length + 1;
  const replaced = added.reason === undefined ? 'replaced' : 'rolled-back';
  const before = known.map(
    (one): RevisionSummary =>
      one.outcome === 'running' && added.outcome === 'running' ? { ...one, outcome: replaced } : one,
  );
  const facts = { status: '', reason: '', hasSection: false, deployedAt: null, chart: '', description: '' };
  revisions.set(name, [{ ...facts, ...added, revision, files: added.version }, ...before]);
  return revision;
}
