import { access, mkdir, rename, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';

/** A program built from a Go module of this folder, whose go.sum pins every source file. */
export interface GoProgram {
  readonly name: string;
  readonly moduleDir: string;
  readonly packagePath: string;
  readonly linkerFlags: readonly string[];
  /** Measured on two cores with nothing cached. */
  readonly buildSeconds: number;
}

export const KUBERNETES_VERSION = '1.34.2';
export const BUILT_HELM_VERSION = '3.19.5';

const controlPlaneModule = join(import.meta.dirname, 'go');
const nodeModules = join(import.meta.dirname, '../node');
const helmModule = join(import.meta.dirname, 'go-helm');
const strip = ['-s', '-w'];

function setVariable(name: string, value: string): string {
  return `-X ${name}=${value}`;
}

/** helm parses the version the API server reports, so it has to be stamped in. */
const kubernetesVersion = [
  setVariable('k8s.io/component-base/version.gitVersion', `v${KUBERNETES_VERSION}`),
  setVariable('k8s.io/component-base/version.gitMajor', '1'),
  setVariable('k8s.io/component-base/version.gitMinor', '34'),
];

function kubernetesProgram(name: string, buildSeconds: number): GoProgram {
  return {
    name,
    buildSeconds,
    moduleDir: controlPlaneModule,
    packagePath: `k8s.io/kubernetes/cmd/${name}`,
    linkerFlags: [...strip, ...kubernetesVersion],
  };
}

export const CONTROL_PLANE_PROGRAMS: readonly GoProgram[] = [
  {
    name: 'etcd',
    moduleDir: controlPlaneModule,
    packagePath: './etcd',
    linkerFlags: strip,
    buildSeconds: 30,
  },
  kubernetesProgram('kube-apiserver', 220),
  kubernetesProgram('kube-controller-manager', 70),
];

/** What a node needs besides; the seconds are those after the control plane was built. */
export const NODE_PROGRAMS: readonly GoProgram[] = [
  kubernetesProgram('kubelet', 110),
  kubernetesProgram('kube-scheduler', 30),
  kubernetesProgram('kube-proxy', 20),
  {
    name: 'coredns',
    moduleDir: join(nodeModules, 'go-dns'),
    packagePath: '.',
    linkerFlags: strip,
    buildSeconds: 60,
  },
  {
    name: 'pause',
    moduleDir: join(nodeModules, 'go-pause'),
    packagePath: '.',
    linkerFlags: strip,
    buildSeconds: 2,
  },
];

export const HELM_PROGRAM: GoProgram = {
  name: 'helm',
  buildSeconds: 120,
  moduleDir: helmModule,
  packagePath: 'helm.sh/helm/v3/cmd/helm',
  linkerFlags: [
    ...strip,
    setVariable('helm.sh/helm/v3/internal/version.version', `v${BUILT_HELM_VERSION}`),
    ...['helm.sh/helm/v3/pkg/chartutil', 'helm.sh/helm/v3/pkg/lint/rules'].flatMap((name) => [
      setVariable(`${name}.k8sVersionMajor`, '1'),
      setVariable(`${name}.k8sVersionMinor`, '34'),
    ]),
  ],
};

/** Builds one program at low priority and puts it at `target` in one step. Minutes, when nothing is cached. */
export async function buildGoProgram(program: GoProgram, target: string, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const unfinished = `${target}.${process.pid}.tmp`;
  try {
    const build = execa(
      'go',
      [
        'build',
        '-trimpath',
        '-ldflags',
        program.linkerFlags.join(' '),
        '-o',
        unfinished,
        program.packagePath,
      ],
      {
        cwd: program.moduleDir,
        // A build takes every core, unlike the programs that it makes, see `go-settings.ts`.
        env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false', GOWORK: 'off', GOMAXPROCS: '' },
        stdin: 'ignore',
        cancelSignal: signal,
      },
    );
    if (build.pid !== undefined) setPriority(build.pid, 10);
    await build;
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Whether a Go tool chain is in PATH. */
export async function hasGo(signal: AbortSignal): Promise<boolean> {
  const result = await execa('go', ['version'], { reject: false, cancelSignal: signal });
  return !result.failed;
}

export async function isPresent(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
