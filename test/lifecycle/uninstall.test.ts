import { expect, test, vi } from 'vitest';
import { CHECKER, createWorld, VALIDATING, webhook } from '../support/admission-lab.ts';
import { ConversionLab, converterHook } from '../support/conversion-lab.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook } from '../support/world-files.ts';

const FOREIGN = {
  name: 'foreign.example.com',
  clientConfig: { url: 'https://elsewhere.example.com/check' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  failurePolicy: 'Ignore',
  rules: [{ apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['things'], operations: ['CREATE'] }],
};

describeLifecycle((backend) => {
  test('uninstall --webhooks removes the webhooks of the operator and keeps those of others', async () => {
    await using lab = await createWorld(backend());
    const { world, name } = lab;
    await world.write('global-hooks', {
      'check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
    });
    await world.converge();
    const path = `${VALIDATING}/${name}`;
    const registered = (await world.expect({ path })) as { readonly webhooks: readonly unknown[] };
    expect(registered.webhooks).toHaveLength(1);
    const webhooks = [...registered.webhooks, FOREIGN];
    await world.expect({ method: 'PUT', path, body: { ...registered, webhooks } });
    await world.stop();

    const run = await runInWorld(world, 'uninstall', '--webhooks');
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.stdout).toBe(`ValidatingWebhookConfiguration/${name} (1 webhook): removed\n`);
    expect(await world.expect({ path })).toMatchObject({ webhooks: [{ name: FOREIGN.name }] });

    const again = await runInWorld(world, 'uninstall', '--webhooks');
    expect(again).toMatchObject({ exitCode: 0, stdout: 'No webhooks of this operator are registered\n' });
  });

  test('uninstall --webhooks sets the conversion of CRDs to None', async () => {
    await using lab = await ConversionLab.create(backend(), (crdName) => ({
      globalHooks: { 'convert.cjs': converterHook({ crdName, steps: ['v1→v2'] }) },
    }));
    await lab.createDefinition();
    await lab.world.converge();
    await vi.waitFor(
      async () => expect(await lab.conversion()).toMatchObject({ strategy: 'Webhook' }),
      20_000,
    );
    await lab.world.stop();

    const run = await runInWorld(lab.world, 'uninstall', '--webhooks');
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.stdout).toContain(`CustomResourceDefinition/${lab.crdName}: conversion set to None\n`);
    expect(await lab.conversion()).toEqual({ strategy: 'None' });
  });
});
