import { expect, test } from 'vitest';
import { DeliveryWorld, expectNothingRemoved, runsIn } from '../support/delivery-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { runInWorld } from '../support/world-command.ts';

const { signal } = new AbortController();
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

describeRegistries('decisions about versions from a registry', () => {
  describeLifecycle((backend) => {
    test('an approval is of a digest, wherever the channel is by then, and values go back with the version', async () => {
      const name = uniqueName();
      await using registry = await FaultRegistry.start(signal);
      await using lab = await DeliveryWorld.create(backend(), [name], { config: { [name]: 'size: 1\n' } });
      const { world } = lab;
      const url = registry.url('platform');
      const schema = (fields: string) => ({
        'openapi/config-values.yaml': `type: object\nproperties: {${fields}}\n`,
      });
      await lab.push(url, name, '1.0.0', { files: schema('size: {type: integer}') });
      await world.converge();
      await lab.create('ModuleSource', name, { url, interval: '10s' });
      await lab.create('ModuleInstall', name, {
        source: name,
        version: { channel: 'stable' },
        update: { mode: 'manual' },
      });
      await lab.untilRuns(name, '1.0.0');
      await lab.untilObserved(name, { lastGood: { version: '1.0.0' } });

      const files = schema('size: {type: integer}, canary: {type: boolean}');
      const approved = await lab.push(url, name, '1.1.0', { files });
      lab.passInterval();
      await lab.untilStatus('ModuleInstall', name, {
        pending: { reason: 'NeedsApproval', digest: approved },
      });
      const { kubeconfigPath } = world.backend;
      const approving = await runInWorld(world, 'module', 'approve', name, `--kube-config=${kubeconfigPath}`);
      expect(approving).toMatchObject({ exitCode: 0 });
      await lab.push(url, name, '1.2.0', { files });
      lab.passInterval();
      await lab.untilRuns(name, '1.1.0');
      await lab.untilObserved(name, {
        installed: { version: '1.1.0', digest: approved },
        lastGood: { version: '1.1.0' },
        pending: { version: '1.2.0', reason: 'NeedsApproval' },
      });

      await world.putConfig({ [name]: 'size: 2\ncanary: true\n' });
      await world.log.until(() =>
        JSON.stringify(world.daemon.built.configuration.values.configValues(name as never)).includes(
          'canary',
        ),
      );
      const plain = await runInWorld(world, 'module', 'rollback', name);
      expect(plain).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`${name}.canary`) });
      expect(plain.stderr).toContain('--with-values');
      await lab.untilRuns(name, '1.1.0');
      await lab.succeed('module', 'rollback', name, '--with-values');
      await lab.untilRuns(name, '1.0.0');
      expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
        data: { [name]: 'size: 1\n' },
      });
      const { stdout } = await lab.succeed('module', 'history', name);
      expect(stdout).toMatch(/1\.0\.0 .*running[^]*1\.1\.0 .*rolled-back[^]*1\.0\.0 .*replaced/u);
      await expectNothingRemoved(world);
    });

    test('what an admission policy refuses is not begun', async ({ skip }) => {
      skip(backend().name === 'sandbox', 'the sandbox has no admission policies');
      const name = uniqueName();
      await using registry = await FaultRegistry.start(signal);
      await using lab = await DeliveryWorld.create(backend(), [name]);
      const { world } = lab;
      const url = registry.url('platform');
      await lab.push(url, name, '1.0.0');
      await world.converge();
      await lab.create('ModuleSource', name, { url, interval: '10s' });
      await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
      await lab.untilRuns(name, '1.0.0');
      await using stack = new AsyncDisposableStack();
      for (const [plural, kind, spec] of [
        [
          'validatingadmissionpolicies',
          'ValidatingAdmissionPolicy',
          {
            matchConstraints: {
              resourceRules: [
                {
                  apiGroups: [''],
                  apiVersions: ['v1'],
                  operations: ['CREATE', 'UPDATE'],
                  resources: ['configmaps'],
                },
              ],
            },
            validations: [
              {
                expression: '!has(object.data) || !("forbidden" in object.data)',
                message: 'not in this shop',
              },
            ],
          },
        ],
        [
          'validatingadmissionpolicybindings',
          'ValidatingAdmissionPolicyBinding',
          {
            policyName: name,
            validationActions: ['Deny'],
            matchResources: {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': world.namespace } },
            },
          },
        ],
      ] as const) {
        const body = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, spec };
        await world.expect({ method: 'POST', path: `${ADMISSION}/${plural}`, body });
        stack.defer(async () => {
          await world.backend.request({ method: 'DELETE', path: `${ADMISSION}/${plural}/${name}` });
        });
      }
      // Policies take effect some time after they were created.
      const probe = { metadata: { name: 'probe' }, data: { forbidden: 'yes' } };
      await expect
        .poll(
          async () => {
            const request = { method: 'POST', path: `${world.path('configmaps')}?dryRun=All` } as const;
            const { status } = await world.backend.request({
              ...request,
              body: { apiVersion: 'v1', kind: 'ConfigMap', ...probe },
            });
            return status;
          },
          { timeout: 60_000, interval: 200 },
        )
        .toBe(422);
      const calls = (await world.helmCalls()).filter((call) => /^(upgrade|install)/u.test(call)).length;
      await lab.push(url, name, '1.1.0', {
        files: {
          'templates/more.yaml':
            'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {forbidden: "yes"}\n',
        },
      });
      lab.passInterval();
      await lab.untilStatus('ModuleInstall', name, {
        pending: {
          version: '1.1.0',
          reason: 'WouldFail',
          message: expect.stringContaining('not in this shop'),
        },
      });
      await lab.untilRuns(name, '1.0.0');
      expect(await runsIn(world)).not.toContain('1.1.0');
      expect((await world.helmCalls()).filter((call) => /^(upgrade|install)/u.test(call))).toHaveLength(
        calls,
      );
    });
  });
});
