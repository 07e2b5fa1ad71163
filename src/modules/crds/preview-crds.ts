import { readFile } from 'node:fs/promises';
import { messageOf } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import { type Crd, parseCrdFile } from '@addon-operator/kube-client/crd';
import { type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { type CrdOrigin, comparableCrd, nextCrdStep } from './crd-changes.ts';
import { CRD_COLLECTION } from './crd-installer.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A CRD that would be written. */
interface CrdPreview {
  readonly crd: string;
  /** The parts that decide about a write, as they are in the cluster; undefined for a new CRD. */
  readonly before: Fields | undefined;
  /** The same parts after the write. */
  readonly after: Fields;
}

export interface CrdPreviews {
  /** CRDs that would be created or updated. */
  readonly crds: readonly CrdPreview[];
  /** One sentence for each CRD that stays as a newer version of the module has applied it. */
  readonly kept: readonly string[];
  /** One sentence for each document and CRD that cannot be applied, or read. */
  readonly problems: readonly string[];
}

/**
 * Compares the CRDs in these files with the cluster, with the decisions of the installer. Writes
 * nothing.
 *
 * @param extraLabels set on every CRD
 */
export async function previewCrds(
  {
    kube,
    extraLabels,
    origin,
  }: {
    readonly kube: Pick<KubeClient, 'request'>;
    readonly extraLabels: Readonly<Record<string, string>>;
    readonly origin: CrdOrigin;
  },
  files: readonly string[],
  signal: AbortSignal,
): Promise<CrdPreviews> {
  const crds: CrdPreview[] = [];
  const kept: string[] = [];
  const problems: string[] = [];
  const attempt = async (what: string, part: () => Promise<void>): Promise<void> => {
    try {
      await part();
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${what}: ${messageOf(error)}`);
    }
  };
  const look = async (crd: Crd): Promise<void> => {
    const path = `${CRD_COLLECTION}/${encodeURIComponent(crd.name)}`;
    const response = await requestIfPresent(kube, { method: 'GET', path }, signal);
    const current = isObject(response) ? response : undefined;
    const step = nextCrdStep(current, crd, extraLabels, origin);
    if (step.type === 'keep') {
      if (step.kept !== undefined) kept.push(`CRD ${crd.name}: ${step.kept}`);
      return;
    }
    if (step.type === 'refuse') {
      problems.push(`CRD ${crd.name}: ${step.reason}`);
      return;
    }
    // Dropping versions is only the first of two steps: the preview shows the result of both.
    const next =
      step.type === 'drop-stored-versions' ? nextCrdStep(step.body, crd, extraLabels, origin) : step;
    const after = 'body' in next ? next.body : step.body;
    crds.push({
      crd: crd.name,
      before: current && comparableCrd(current),
      after: comparableCrd(after),
    });
  };
  for (const path of files) {
    await attempt(path, async () => {
      const file = parseCrdFile(await readFile(path, 'utf8'), path);
      problems.push(...file.problems);
      for (const crd of file.crds) await attempt(`CRD ${crd.name}`, () => look(crd));
    });
  }
  return { crds, kept, problems };
}
