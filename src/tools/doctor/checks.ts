import type { DirectoryFacts, DoctorFacts } from './facts.ts';

/** Something that is wrong. */
export interface DoctorFinding {
  /** Of the check. */
  readonly code: string;
  /** One sentence. */
  readonly message: string;
  /** The command that fixes it, or shows more. */
  readonly command: string;
}

interface Check {
  readonly code: string;
  /** The subject of the check, for people. */
  readonly title: string;
  readonly find: (facts: DoctorFacts) => Iterable<Omit<DoctorFinding, 'code'>>;
}

const MAX_SKEW_MS = 5_000;
const MIN_FREE_BYTES = 100 * 1024 * 1024;
const MIN_OPEN_FILES = 1_024;
const MIN_WATCHES = 8_192;
/** 70 % of what a Secret can have. */
const NEAR_LIMIT_BYTES = 0.7 * 1024 * 1024;

const MAKE_DIRECTORY = 'addon-operator help flags';
/** The command to run for an error with a code; the message itself says more. */
const COMMANDS: Readonly<Record<string, string>> = {
  CONFIG_INVALID: 'addon-operator help flags',
  CONFIG_MAP_INVALID: 'kubectl edit configmap',
  HELM_NOT_FOUND: 'helm version',
  HOOK_CONFIG_INVALID: 'addon-operator module lint',
  KUBE_API: 'kubectl auth whoami',
  KUBE_CONFIG_INVALID: 'kubectl config view --minify',
  KUBE_UNREACHABLE: 'kubectl version',
  MODULE_INVALID: 'addon-operator module lint',
  VALUES_INVALID: 'addon-operator module lint',
};

/** All checks, in the order in which findings are shown. */
export const CHECKS: readonly Check[] = [
  {
    code: 'start',
    title: 'settings, modules, ConfigMap, helm and cluster are such that the operator can start',
    find: function* ({ failure }) {
      if (failure === undefined) return;
      const { code, message } = failure;
      yield { message, command: COMMANDS[code] ?? 'addon-operator start' };
    },
  },
  {
    code: 'tmp-dir',
    title: 'the temporary directory can be written, programs in it can be run, and it has 100 MiB',
    find: ({ machine: { tmpDir } }) => directoryProblems(tmpDir),
  },
  {
    code: 'module-store',
    title: 'the module store can be written, programs in it can be run, and it has 100 MiB',
    find: ({ machine: { moduleStore } }) => (moduleStore === undefined ? [] : directoryProblems(moduleStore)),
  },
  {
    code: 'open-files',
    title: 'a process may have 1,024 files open',
    find: function* ({ machine: { maxOpenFiles } }) {
      if (maxOpenFiles !== undefined && maxOpenFiles < MIN_OPEN_FILES)
        yield { message: `only ${maxOpenFiles} files may be open at once`, command: 'ulimit -n 65536' };
    },
  },
  {
    code: 'watches',
    title: 'with --watch-files 8,192 files can be watched',
    find: function* ({ machine: { maxWatches } }) {
      if (maxWatches !== undefined && maxWatches < MIN_WATCHES)
        yield {
          message: `only ${maxWatches} files can be watched`,
          command: 'sysctl -w fs.inotify.max_user_watches=65536',
        };
    },
  },
  {
    code: 'clock-skew',
    title: 'the clocks of this machine and of the API server differ by less than 5 s',
    find: function* ({ cluster }) {
      const skewMs = cluster?.clockSkewMs ?? 0;
      if (Math.abs(skewMs) > MAX_SKEW_MS)
        yield {
          message: `the clock of this machine is ${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? 'behind' : 'ahead of'} that of the API server: leases and schedules go wrong`,
          command: 'timedatectl status',
        };
    },
  },
  {
    code: 'unknown-key',
    title: 'each key of the ConfigMap belongs to a module',
    find: ({ cluster }) =>
      (cluster?.unknownKeys ?? []).map((key) => ({
        message: `the ConfigMap ${cluster?.configMap} has ${key}, but there is no such module`,
        command: `kubectl -n ${cluster?.namespace} edit configmap ${cluster?.configMap}`,
      })),
  },
  {
    code: 'permission',
    title: 'what hooks watch and charts deploy is allowed',
    find: function* ({ cluster }) {
      for (const missing of cluster?.missingAccess ?? [])
        yield {
          message: `not allowed, but needed: ${missing}`,
          command: 'addon-operator rbac | kubectl apply -f -',
        };
      for (const problem of cluster?.accessProblems ?? [])
        yield {
          message: `needed permissions are not known: ${problem}`,
          command: 'addon-operator module lint',
        };
    },
  },
  {
    code: 'release',
    title: 'no release was left while helm worked on it',
    find: ({ cluster }) =>
      (cluster?.releases ?? [])
        .filter(({ status }) => status.startsWith('pending') || status === 'uninstalling')
        .map(({ name, status }) => ({
          message: `release ${name} is ${status}: helm was ended, or works on it right now`,
          command: `addon-operator module release-unlock ${name}`,
        })),
  },
  {
    code: 'release-size',
    title: 'Secrets of releases have less than 70 % of 1 MiB',
    find: ({ cluster }) =>
      (cluster?.releaseSecrets ?? [])
        .filter(({ bytes }) => bytes > NEAR_LIMIT_BYTES)
        .map(({ name, bytes }) => ({
          message: `Secret ${name} has ${Math.round(bytes / 1024)} of 1024 KiB`,
          command: 'addon-operator module lint --rule release-near-limit',
        })),
  },
  {
    code: 'source',
    title: 'ModuleSources are valid, their accounts and keys can be used, and their registries respond',
    find: ({ cluster }) =>
      (cluster?.sourceProblems ?? []).map(({ source, message }) => ({
        message: source === '' ? message : `ModuleSource ${source}: ${message}`,
        command: source === '' ? 'addon-operator help flags' : `kubectl edit modulesource ${source}`,
      })),
  },
  {
    code: 'operator',
    title: 'the running operator needs no help',
    find: ({ daemon }) =>
      daemon?.level === 'broken'
        ? daemon.problems.map((message) => ({ message, command: 'addon-operator status' }))
        : [],
  },
];

/** The problems; empty when all is well. */
export function findingsOf(facts: DoctorFacts): readonly DoctorFinding[] {
  return CHECKS.flatMap(({ code, find }) => [...find(facts)].map((found) => ({ code, ...found })));
}

/** The checks that could not be made, as sentences. */
export function leftOut({ cluster, isWithoutCluster, daemon }: DoctorFacts): readonly string[] {
  return [
    ...(cluster === undefined ? ['the cluster was not checked, because the operator cannot start'] : []),
    ...(isWithoutCluster === true
      ? ['no cluster is configured, so modules and hooks were checked on an empty one']
      : []),
    ...(daemon === undefined
      ? ['no running operator responds, so queues, hooks and failures were not checked']
      : []),
  ];
}

/** One line and one command for each finding; empty when all is well. */
export function findingsText(findings: readonly DoctorFinding[]): string {
  return findings
    .map(({ code, message, command }) => `${message.replaceAll(/\s*\n\s*/g, ' ')} (${code})\n  ${command}\n`)
    .join('');
}

function* directoryProblems({ path, problem, isNoexec, freeBytes }: DirectoryFacts) {
  if (problem !== undefined) yield { message: `${path} cannot be used: ${problem}`, command: MAKE_DIRECTORY };
  else if (isNoexec)
    yield {
      message: `${path} is mounted with noexec, so nothing can be run from it`,
      command: `mount -o remount,exec ${path}`,
    };
  if (problem === undefined && freeBytes < MIN_FREE_BYTES)
    yield {
      message: `${path} has ${Math.floor(freeBytes / 1024 / 1024)} MiB left`,
      command: `df -h ${path}`,
    };
}
