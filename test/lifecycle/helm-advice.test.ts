import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { widgetDefinition } from '../support/widget-definition.ts';
import { World } from '../support/world.ts';

describeLifecycle((backend) => {
  test('a chart with a CRD and an object of it in templates fails with the advice to move the CRD to crds, which then works', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
      },
    });
    const group = `${world.namespace}.example.com`;
    const definition = widgetDefinition(group);
    await world.write('modules', {
      '001-web/templates/crd.yaml': definition,
      '001-web/templates/first.yaml': `apiVersion: ${group}/v1\nkind: Widget\nmetadata: {name: first}\n`,
    });
    try {
      await world.start();
      await world.untilDelayed();
      const failure = world.log.records.find(({ msg }) => String(msg).startsWith('ModuleRun failed'));
      expect(String(failure?.['error'])).toMatch(/no matches for kind "Widget"[^]*`crds\/`/);
      await world.stop();
      await world.write('modules', {
        '001-web/crds/widgets.yaml': definition,
        '001-web/templates/crd.yaml': '',
      });
      await world.converge();
      const path = `/apis/${group}/v1/namespaces/${world.namespace}/widgets/first`;
      expect(await world.expect({ path })).toMatchObject({ kind: 'Widget' });
    } finally {
      // It is not of the namespace: it would stay on the API server that tests share.
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`;
      await backend().request({ method: 'DELETE', path });
    }
  });
});
