import type { MutatedFile } from '../mutant.ts';

/** Which modules are enabled, their releases, and what removes them. */
export const RELEASES: readonly MutatedFile[] = [
  {
    file: 'src/reconcile/plan-purge.ts',
    tests: ['src/reconcile/purge-releases.test.ts'],
    mutants: [
      {
        find: '&& name !== ignoredRelease);',
        replace: ');',
        breaks: 'The release of the operator itself is removed.',
      },
      {
        find: 'const rest = withoutModule.filter(({ isKept }) => isKept !== true);',
        replace: 'const rest = withoutModule;',
        breaks: 'Releases are removed that are to be kept.',
      },
      {
        find: 'isOwned || purgesForeignReleases)',
        replace: 'isOwned || !purgesForeignReleases)',
        breaks: 'Releases of others are removed.',
      },
      {
        find: "held: decision.type === 'purge' ? undefined :",
        replace: "held: decision.type !== 'hold' || missing.length > 0 ? undefined :",
        breaks: 'Releases are removed although a decision of a person is needed.',
      },
      {
        find: '!modules.has(name) && name',
        replace: 'name',
        breaks: 'Releases of disabled modules are purged.',
      },
    ],
  },
  {
    file: 'src/reconcile/purge-releases.ts',
    mutants: [
      {
        find: "operator.converge.decidePurge(held ?? 'decided');",
        replace: "operator.converge.decidePurge('decided');",
        breaks: 'It is not shown that releases wait for a confirmation.',
      },
      {
        find: "if (operator.registry.find(release) !== undefined) return { type: 'success' };",
        replace: '',
        breaks: 'A release is purged whose module came back.',
      },
      {
        find: 'await directoryMemory.write(plan.remembered, signal);',
        replace: '',
        breaks: 'It is not remembered which directories had modules.',
      },
      {
        find: '  await operator.directoryMemory.write(operator.sources.modulesDirectories(), signal);\n',
        replace: '',
        breaks: 'After a confirmation the next start asks again.',
      },
      {
        find: '    rethrowAbort(error, signal);\n    const outlook',
        replace: '    const outlook',
        breaks: 'The stop of the operator counts as a purge that failed.',
      },
      {
        find: 'return releases.toReversed().map(',
        replace: 'return releases.map(',
        breaks: 'Releases are purged in the wrong order.',
      },
      {
        find: "if (typeof purge === 'string') return [];",
        replace: "if (purge === 'undecided') return [];",
        breaks: 'A confirmation without anything to confirm fails.',
      },
    ],
  },
  {
    file: 'src/releases/release-action.ts',
    mutants: [
      {
        find: 'if (desired.isForced === true) return',
        replace: 'if (desired.isForced === false) return',
        breaks: 'Helm is not run on request.',
      },
      {
        find: 'observed.inputDigest !== desired.inputDigest',
        replace: 'observed.inputDigest === undefined',
        breaks: 'Changed inputs of a chart are not applied.',
      },
      {
        find: 'if (desired.readsOutside) return',
        replace: 'if (!desired.readsOutside && desired.isOpen) return',
        breaks: 'A chart that reads the cluster is not rendered again.',
      },
      {
        find: 'observed.unchangedMs >= lockLimitMs',
        replace: 'observed.unchangedMs < lockLimitMs',
        breaks: 'The lock of a helm that works is broken.',
      },
      {
        find: 'repair: true }\n        : {',
        replace: 'repair: false }\n        : {',
        breaks: 'A release that another client left stays locked.',
      },
      {
        find: 'if (desired.isOpen === true) return',
        replace: 'if (desired.isOpen === false) return',
        breaks: 'Extensions that return something else are not asked.',
      },
    ],
  },
  {
    file: 'src/releases/own-record.ts',
    mutants: [
      {
        find: 'const MARGIN_MS = 60_000;',
        replace: 'const MARGIN_MS = 0;',
        breaks: 'The lock of a helm that writes its result is broken.',
      },
      {
        find: 'if (isRecent && isHolderAlive',
        replace: 'if (isHolderAlive',
        breaks: 'A process with the number of a former one locks a release for ever.',
      },
      {
        find: "status === 'uninstalling' ? uninstaller : holder",
        replace: 'holder',
        breaks: 'An uninstall of another process is taken for that of a dead one.',
      },
      {
        find: "if (!isOwned(labels)) return 'none';",
        replace: '',
        breaks: 'Releases of others are taken for ours.',
      },
      {
        find: "return checksum === undefined ? 'cut-off' : 'complete';",
        replace: "return 'complete';",
        breaks: 'A release that a kill cut off counts as complete.',
      },
      {
        find: 'return helmTimeoutMs + MARGIN_MS;',
        replace: 'return helmTimeoutMs;',
        breaks: 'The lock of another helm client is broken at its time-out.',
      },
    ],
  },
  {
    file: 'packages/helm/src/recovery-table.ts',
    mutants: [
      {
        find: "return own === 'at-work' ? 'wait' : 'set-aside';",
        replace: "return 'set-aside';",
        breaks: 'A record is set aside while helm writes it.',
      },
      {
        find: "own === 'none' && !isForced",
        replace: "own === 'none' && isForced",
        breaks: 'A release of others is uninstalled.',
      },
      {
        find: "    case 'at-work':\n      return 'wait';",
        replace: "    case 'at-work':\n      return 'mark-failed';",
        breaks: 'A second helm runs for a release.',
      },
      {
        find: "return own === 'none' || own === 'earlier' ? 'upgrade' : 'use';",
        replace: "return own === 'none' ? 'upgrade' : 'use';",
        breaks: 'What another client changed in a release stays.',
      },
      {
        find: "    case 'earlier':\n      return 'outwait';",
        replace: "    case 'earlier':\n      return 'mark-failed';",
        breaks: 'The lock of another helm client is broken at once.',
      },
    ],
  },
  {
    file: 'packages/helm/src/release-locks.ts',
    mutants: [
      {
        find: 'seen.isUnlocked ? Number.POSITIVE_INFINITY : nowMs - seen.sinceMs',
        replace: 'nowMs - seen.sinceMs',
        breaks: 'A release that a person unlocked stays locked.',
      },
      {
        find: 'if (seen?.version === version) return',
        replace: 'if (seen !== undefined) return',
        breaks: 'A lock that is renewed is taken for an old one.',
      },
      {
        find: 'host !== self.host || Number(pid) === self.pid',
        replace: 'Number(pid) === self.pid',
        breaks: 'A process of another host locks a release.',
      },
    ],
  },
  {
    file: 'src/modules/enablement.ts',
    mutants: [
      {
        find: 'soFar.isEnabled && module.enabledScript !== undefined',
        replace: 'module.enabledScript !== undefined',
        breaks: 'A script enables a module that a flag disabled.',
      },
      {
        find: "if (isEnabled === undefined) return { type: 'none' };",
        replace: '',
        breaks: 'A source without a flag disables modules.',
      },
      {
        find: "if (opinion.type === 'flag') decision = opinion.decision;",
        replace: "if (opinion.type === 'flag' && decision.source === 'default') decision = opinion.decision;",
        breaks: 'The ConfigMap does not override flags of files.',
      },
      {
        find: "flags.configMap.get(module.key), 'config-map'",
        replace: "flags.common.get(module.key), 'config-map'",
        breaks: 'Flags of the ConfigMap have no effect.',
      },
    ],
  },
  {
    file: 'src/modules/script-verdicts.ts',
    mutants: [
      {
        find: '      this.#known.delete(module.name);\n',
        replace: '',
        breaks: 'A script that fails has the result of its last run.',
      },
      {
        find: 'isDeepStrictEqual(known.basis, this.#basisOf(module, enabledBefore))',
        replace: "known.basis.file !== ''",
        breaks: 'A script is not run again for changed values.',
      },
      {
        find: '`${path} ${file.dev} ${file.ino} ${file.ctimeNs}`',
        replace: 'path',
        breaks: 'A changed script is not run again.',
      },
    ],
  },
  {
    file: 'src/model/purge-guard.ts',
    tests: ['src/reconcile/purge-releases.test.ts'],
    mutants: [
      {
        find: 'gone * 2 > all',
        replace: 'gone > all',
        breaks: 'Most modules vanish with a volume, and their releases are removed.',
      },
      {
        find: 'const MIN_MISSING = 3;',
        replace: 'const MIN_MISSING = 300;',
        breaks: 'Modules vanish with a volume, and their releases are removed.',
      },
    ],
  },
];
