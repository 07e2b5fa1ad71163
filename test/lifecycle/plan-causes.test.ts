import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deployedWorld, person, restart } from '../support/deployed-world.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { plan, planWithText } from '../support/plan-in-world.ts';

describeLifecycle((backend) => {
  test('a plan shows that a deleted object is restored', async () => {
    await using world = await deployedWorld(backend());
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { outcome: 'nothing' } });
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'web') });
    const { exitCode, text, data } = await planWithText(world);
    expect(exitCode).toBe(2);
    expect(text).toContain('~ web: upgrade');
    expect(text).toContain(`  because the ConfigMap ${world.namespace}/web is missing\n`);
    expect(text).toContain('Modules: 0 to install, 1 to upgrade, 0 to delete, 0 without a change.');
    expect(data.modules).toMatchObject([
      { action: 'upgrade', causes: [`the ConfigMap ${world.namespace}/web is missing`], changes: [] },
    ]);
    await world.create('configmaps', { metadata: { name: 'web' } });
    expect((await planWithText(world)).text).toContain('/web lacks labels of its release\n');
    await restart(world);
    expect((await plan(world)).exitCode).toBe(0);
  });

  test('a plan shows that a revision of another helm is upgraded', async () => {
    await using world = await deployedWorld(backend());
    await person(world, 'upgrade', 'web', join(world.directory, 'modules', '001-web'), '--reuse-values');
    const { exitCode, text, data } = await planWithText(world);
    expect(exitCode).toBe(2);
    expect(text).toContain('~ web: upgrade');
    expect(text).toContain('  because revision 2 was not created by this operator\n');
    expect(data.modules).toMatchObject([
      { action: 'upgrade', causes: ['revision 2 was not created by this operator'] },
    ]);
    await restart(world);
    expect((await plan(world)).exitCode).toBe(0);
  });
});

describeApiIndependent((backend) => {
  // Tests of the recovery have records of real helms.
  test('a plan shows that a revision which failed, is unfinished or unreadable is recovered', async () => {
    await using world = await deployedWorld(backend());
    const record = 'sh.helm.release.v1.web.v1';
    for (const [status, cause] of [
      ['failed', 'revision 1 is failed'],
      ['pending-upgrade', 'revision 1 was left pending-upgrade'],
      ['uninstalling', 'revision 1 was left uninstalling'],
    ] as const) {
      await world.merge('secrets', record, { metadata: { labels: { status } } });
      const { exitCode, data } = await plan(world);
      expect([exitCode, data.modules[0]?.action, data.modules[0]?.causes]).toEqual([2, 'upgrade', [cause]]);
    }
    await world.merge('secrets', record, { metadata: { labels: { status: 'uninstalled' } } });
    expect((await plan(world)).data.modules).toMatchObject([{ action: 'install', causes: [] }]);
    await world.merge('secrets', record, { metadata: { labels: { status: 'deployed' } } });
    expect((await plan(world)).exitCode).toBe(0);
    await person(world, 'upgrade', 'web', join(world.directory, 'modules', '001-web'), '--reuse-values');
    await world.merge('secrets', 'sh.helm.release.v1.web.v2', { data: { release: 'bm90aGluZw==' } });
    expect((await plan(world)).data.modules).toMatchObject([
      {
        action: 'upgrade',
        causes: ['the record of revision 2 cannot be read', 'revision 1 is superseded'],
        changes: [],
      },
    ]);
  });

  test('a plan shows no change where a chart would only render to other random strings', async () => {
    const template = `apiVersion: v1
kind: ConfigMap
metadata: {name: random}
data: {text: {{ randAlphaNum 12 }}}
`;
    await using world = await deployedWorld(backend(), { '001-web/templates/random.yaml': template });
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { outcome: 'nothing' } });
    await restart(world);
    expect(await world.get('secrets', 'sh.helm.release.v1.web.v2')).toBeUndefined();
  });
});
