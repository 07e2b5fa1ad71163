import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that begin by deleting the namespaces that other tests have left in the control plane of their worker, each for
 * 0.2 s of CPU time: so early there are none.
 */
const TIDYING = ['examples', 'example-catalogue-applications', 'example-catalogue-bindings'].map(
  (name) => `${name}.test.ts`,
);

/** Files that take more than 50 s in the gate, the slowest first. */
const SLOW = [
  'kill-in-request',
  'kill',
  'plan-causes',
  'starter-modules',
  'examples',
  'helm-lookup',
  'differential-helm-commands',
  'differential-kubectl-commands',
  'helm-interrupted',
  'helm-recovery-deploy-helm-3-19',
  'helm-recovery-uninstall-helm-3-19',
  'example-commands-extensions',
  'helm',
  'network',
  'commands',
  'reflector',
  'api-server',
  'deploy-chart-values',
  'stopped-leader',
  'example-commands',
  'helm-recovery-deploy-helm-3',
  'helm-recovery-uninstall-helm-3',
  'helm-recovery-interrupted-helm-3',
  'helm-recovery-uninstall-helm-4',
  'hook-processes',
  'release-steps',
  'in-process-hooks',
  'leader',
].map((name) => `${name}.test.ts`);

/**
 * Begins with the slow files of each project, so that at its end no worker is busy alone. vitest has the durations of the
 * last run for that; where there was none, as in CI, it goes by the size of files, and the slowest have three lines.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isRecorded = (file: TestSpecification): boolean =>
      this.ctx.cache.getTestSpecificationResult(file) !== undefined;
    const bySpeed = await super.sort(files);
    const sorted = bySpeed.toSorted((a, b) => urgency(a) - urgency(b));
    if (files.every(isRecorded)) return sorted;
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((a, b) => rank(a) - rank(b)),
    );
  }
}

/** Files of projects with a limit of workers come first: they run longest. */
function urgency(file: TestSpecification): number {
  if (file.project.name === 'node') return 0;
  return isTidying(file) ? 1 : file.project.name === 'cluster' ? 2 : 3;
}

function isTidying({ moduleId, project }: TestSpecification): boolean {
  return project.name === 'cluster' && TIDYING.includes(basename(moduleId));
}

function rank(file: TestSpecification): number {
  if (isTidying(file)) return -1;
  const place = SLOW.indexOf(basename(file.moduleId));
  return place === -1 ? SLOW.length : place;
}
