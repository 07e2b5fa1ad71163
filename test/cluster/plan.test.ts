import { expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster, helmPath, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';

const MODULE = {
  '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  '001-web/values.yaml': 'webEnabled: true\n',
  '001-web/templates/objects.yaml': `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}], selector: {app: web}}
---
apiVersion: v1
kind: Pod
metadata: {name: check, annotations: {helm.sh/hook: test}}
spec: {containers: [{name: a, image: a}]}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: "1"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {a: "{{ .Values.web.a | default 2 }}"}}
`,
};

describeCluster('plan', (cluster) => {
  test.for(HELM_VERSIONS)('after a converge with helm %s nothing is left to do', async (version) => {
    if (lacksHelm(version)) return;
    const flags = { 'helm-bin-path': helmPath(cluster(), version) };
    await using world = await World.create(await controlPlaneBackend(cluster()), {
      modules: MODULE,
      flags,
      config: {},
    });
    await world.converge();
    await world.stop();
    const plan = await runInWorld(world, 'plan');
    expect(plan.stdout).toContain('= web: no change');
    expect(plan.exitCode).toBe(0);
    await world.putConfig({ web: 'a: 3' });
    const changed = await runInWorld(world, 'plan');
    expect(changed.exitCode).toBe(2);
    expect(changed.stdout).toContain(`v1/ConfigMap ${world.namespace}/two is changed`);
    expect(changed.stdout).not.toContain(`${world.namespace}/one`);
  });
});
