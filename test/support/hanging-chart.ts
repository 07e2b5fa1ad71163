import { vi } from 'vitest';
import type { World } from './world.ts';
import { configMapChart, type FileTree } from './world-files.ts';

/** A chart with one ConfigMap whose helm hangs in a hook Job (no pod ever runs) while `.Values.<key>.hangs` is set. */
export function hangingChart(name: string, key: string): FileTree {
  return {
    ...configMapChart(name, key),
    'templates/job.yaml': `{{ if .Values.${key}.hangs }}
apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}-hangs
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: job, image: none.invalid/none}]
{{ end }}
`,
  };
}

/** Waits until helm hangs in the hook Job of the chart. */
export async function untilHanging(world: World, name: string): Promise<void> {
  const path = `/apis/batch/v1/namespaces/${world.namespace}/jobs/${name}-hangs`;
  await vi.waitFor(() => world.expect({ path }), { timeout: 60_000, interval: 100 });
}

/** The revisions of a release with their status, the oldest first. */
export async function releaseStatuses(world: World, name: string): Promise<readonly string[]> {
  const query = `labelSelector=owner%3Dhelm,name%3D${name}`;
  const list = (await world.expect({ path: `${world.path('secrets')}?${query}` })) as {
    items: { metadata: { labels: { version: string; status: string } } }[];
  };
  return list.items
    .map(({ metadata: { labels } }) => labels)
    .toSorted((a, b) => Number(a.version) - Number(b.version))
    .map(({ status }) => status);
}
