import { cp, mkdtemp } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { Terminal } from '../docs/terminal.ts';
import { POD_COMMANDS } from '../docs/tours/pods.ts';
import { describeNode } from '../support/node/node-suite.ts';
import { loadOnTop } from '../support/node/pod-operator.ts';

const ROOT = join(import.meta.dirname, '../..');
const IMAGE = 'localhost/my-operator';
const ALL_MODULES = ['namespace-defaults', 'config-reloader', 'web'];

describeNode('the pages about running the operator in a cluster', (node) => {
  test('install it, check it, narrow its permissions, make it highly available, and remove it', async () => {
    const shared = await node();
    const content = await mkdtemp(join(shared.node.directory, 'my-operator-'));
    for (const name of ['modules', 'global-hooks']) {
      await cp(join(ROOT, name), join(content, name), { recursive: true });
    }
    await loadOnTop(shared, IMAGE, content);
    await shared.node.probe.expect({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: {
        metadata: { name: 'addon-operator', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      },
    });
    const cacheDir = cacheDirectory(process.env, homedir());
    const kubectl = await pinnedKubectl({ cacheDir }, new AbortController().signal);
    const terminal = await Terminal.open(
      { helm: shared.parts.helm['4.1.4'], kubectl },
      { kubeconfig: shared.node.kubeconfigPath },
    );
    terminal.replaced.set('registry.example.com/my-operator', `${IMAGE} --set image.tag=test`);

    await terminal.paste('install', /STATUS: deployed\nREVISION: 1[^]*all is well/);
    await terminal.paste('rbac');
    await terminal.paste('running-deploy', /STATUS: deployed\nREVISION: 2/);
    await terminal.paste('deploy', /STATUS: deployed\nREVISION: 3/);
    await terminal.paste('deploy-check', /successfully rolled out[^]*Phase: +Succeeded[^]*all is well/);
    await terminal.paste('running-pod', new RegExp(ALL_MODULES.join('[^]*')));
    await terminal.paste('running-rules', /REVISION: 4/);
    expect(await shared.node.denials('addon-operator', 'operator')).toEqual([]);
    await terminal.paste('deploy-high-availability', /REVISION: 5/);
    const replicas = await terminal.run('kubectl -n addon-operator get deployment operator --no-headers');
    expect(replicas).toMatch(/^operator +2\/2 /);

    const oneReplica = '--set highAvailability.enabled=false --reuse-values --wait';
    await terminal.run(
      `helm upgrade operator deploy/addon-operator --namespace addon-operator ${oneReplica}`,
    );
    await terminal.paste('uninstall-modules', /module web is disabled/);
    await terminal.paste('uninstall-chart', /release "operator" uninstalled/);
    await terminal.paste('uninstall-rest', /namespace "addon-operator" deleted/);
    expect(terminal.taken).toEqual(POD_COMMANDS);
  });
});
