import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that begin by deleting the namespaces that other tests have left in the control plane of their worker, each for
 * 0.2 s of CPU time: so early there are none.
 */
export const TIDYING = [
  'test/cluster/examples.test.ts',
  'test/cluster/example-catalogue-applications.test.ts',
  'test/cluster/example-catalogue-bindings.test.ts',
];

/** Files that take more than 40 s in the gate, the slowest first. */
export const SLOW = [
  'test/docs/example-commands.test.ts',
  'test/docs/commands.test.ts',
  'test/browser/accessibility-rules.test.ts',
  'test/fault/kill-in-request.test.ts',
  'test/contract/examples.test.ts',
  'test/fault/leader.test.ts',
  'test/fault/stopped-leader.test.ts',
  'test/cluster/differential-kubectl-commands.test.ts',
  'test/lifecycle/extension-points.test.ts',
  'test/fault/etcd.test.ts',
  'test/fault/stop.test.ts',
  'test/cluster/differential-helm-commands.test.ts',
  'test/fault/kill.test.ts',
  'test/docs/example-commands-extensions.test.ts',
  'test/cluster/deploy-chart-values.test.ts',
  'test/lifecycle/hand-over.test.ts',
  'test/browser/situations.test.ts',
  'test/lifecycle/reconcile-webhooks.test.ts',
  'test/fault/network.test.ts',
  'test/fault/api-server.test.ts',
  'test/cluster/module-object.test.ts',
  'test/contract/in-process-hooks.test.ts',
  'test/browser/connection.test.ts',
  'test/cluster/reflector.test.ts',
  'test/browser/cluster-situations.test.ts',
  'test/contract/npm-start.test.ts',
  'test/contract/scraped-daemon.test.ts',
  'test/fault/temporary-files.test.ts',
  'test/cluster/helm-interrupted.test.ts',
  'test/cluster/conversion.test.ts',
  'test/contract/module-lint.test.ts',
  'test/browser/accessibility.test.ts',
  'test/cluster/helm.test.ts',
  'test/fault/hand-over.test.ts',
];

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

/** Files of projects with a limit of workers come first: they run longest. Those of the page are fewer and longer than others. */
function urgency(file: TestSpecification): number {
  switch (file.project.name) {
    case 'node':
      return 0;
    case 'cluster':
      return isTidying(file) ? 1 : 2;
    case 'browser':
      return 3;
    default:
      return 4;
  }
}

function isTidying(file: TestSpecification): boolean {
  return file.project.name === 'cluster' && TIDYING.includes(nameOf(file));
}

function rank(file: TestSpecification): number {
  if (isTidying(file)) return -1;
  const place = SLOW.indexOf(nameOf(file));
  return place === -1 ? SLOW.length : place;
}

function nameOf({ moduleId, project }: TestSpecification): string {
  return relative(project.config.root, moduleId);
}
