import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deployedWorld, person, restart, WEB } from '../support/deployed-world.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { plan, planWithText } from '../support/plan-in-world.ts';
import { widgetDefinition } from '../support/widget-definition.ts';
import { World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function crdYaml(group: string, field: string): string {
  const spec = `{type: object, properties: {${field}: {type: integer}}}`;
  return widgetDefinition(group, `{type: object, properties: {spec: ${spec}}}`);
}

describeLifecycle((backend) => {
  test('a plan shows CRDs that are created or updated, and those that cannot be', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: {} });
    const group = `${world.namespace}.example.com`;
    const file = '001-web/crds/widgets.yaml';
    await world.write('modules', { [file]: crdYaml(group, 'size') });
    const first = await planWithText(world);
    expect(first.text).toContain('+ web: install');
    expect(first.text).toContain(`  CRD widgets.${group} would be created\n`);
    await restart(world);
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { modules: [{ crds: [] }] } });

    await world.write('modules', { [file]: crdYaml(group, 'height') });
    const { exitCode, text, data } = await planWithText(world);
    expect(exitCode).toBe(2);
    expect(text).toContain('~ web: only its CRDs change');
    expect(text).toContain(`  CRD widgets.${group} would be updated\n`);
    expect(text).toMatch(/ {4}- +size:\n {4}\+ +height:\n/);
    expect(text).toContain('0 without a change, 1 with changed CRDs only.');
    expect(data.outcome).toBe('changes');
    expect(data.modules).toMatchObject([
      { action: 'apply-crds', crds: [{ change: 'change', object: `widgets.${group}` }] },
    ]);

    await world.write('modules', { [file]: crdYaml(group, 'size').replace('name: v1', 'name: v2') });
    const refused = await planWithText(world);
    expect(refused.exitCode).toBe(1);
    expect(refused.text).toContain(`  ! CRD widgets.${group}: version v1 is missing in the file`);
    await world.backend.request({ method: 'DELETE', path: `${CRDS}/widgets.${group}` });
  });

  test('a plan installs a release again, when only its first install was tried and failed', async () => {
    const hook = (namespace: string) => `apiVersion: v1
kind: ConfigMap
metadata: {name: migration, namespace: ${namespace}, annotations: {"helm.sh/hook": pre-install}}
`;
    await using world = await World.create(backend(), { modules: WEB, config: {} });
    await world.write('modules', { '001-web/templates/hook.yaml': hook('no-such-namespace') });
    await expect(
      person(world, 'install', 'web', join(world.directory, 'modules', '001-web'), '--set', 'web.a=b'),
    ).rejects.toThrow('no-such-namespace');
    await world.write('modules', { '001-web/templates/hook.yaml': hook(world.namespace) });
    expect(await plan(world)).toMatchObject({
      exitCode: 2,
      data: { modules: [{ module: 'web', action: 'install', causes: [] }] },
    });
    await restart(world);
    expect(await world.get('configmaps', 'migration')).toBeDefined();
    expect(await plan(world)).toMatchObject({ exitCode: 0 });
  });

  test('a plan purges releases of others only with --purge-foreign-releases', async () => {
    await using world = await World.create(backend(), { modules: {} });
    await world.write('modules', under('../theirs', configMapChart('theirs', 'web')));
    await person(world, 'install', 'theirs', join(world.directory, 'theirs'), '--set', 'web.a=b');
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { outcome: 'nothing', modules: [] } });
    const { exitCode, text, data } = await planWithText(world, '--purge-foreign-releases=true');
    expect(exitCode).toBe(2);
    expect(text).toContain(
      '- theirs: purge  (a release of another owner without a module, and --purge-foreign-releases is set)',
    );
    expect(data.modules).toMatchObject([{ module: 'theirs', action: 'purge' }]);
  });
});

describeApiIndependent((backend) => {
  test('a plan holds releases, when a start would hold them', async () => {
    await using world = await deployedWorld(backend());
    await rename(join(world.directory, 'modules'), join(world.directory, 'aside'));
    await world.write('modules', { 'values.yaml': '' });
    const reason = `${join(world.directory, 'modules')} contained modules before and is empty now`;
    const { exitCode, text, data } = await planWithText(world);
    expect(text).toContain(`  web: stays until its purge is confirmed  (${reason})`);
    expect(data).toMatchObject({ outcome: 'nothing', modules: [{ module: 'web', action: 'hold', reason }] });
    expect(exitCode).toBe(0);
    expect(await plan(world, '--allow-empty-modules-dir=true')).toMatchObject({
      exitCode: 2,
      data: { modules: [{ module: 'web', action: 'purge' }] },
    });
  });
});
