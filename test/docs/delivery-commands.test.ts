import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm, pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { projectRoot } from '../checks/checkout.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { Terminal } from './terminal.ts';
import { DELIVERY_COMMANDS } from './tours/delivery.ts';

describeRegistries('the page about delivery', () => {
  test('its start in five minutes installs a module, updates it and goes back', {
    timeout: 180_000,
  }, async () => {
    const options = { cacheDir: cacheDirectory(process.env, homedir()) };
    const { signal } = new AbortController();
    const [helm, kubectl] = await Promise.all([
      pinnedHelm(3, options, signal),
      pinnedKubectl(options, signal),
    ]);
    const terminal = await Terminal.open({ helm, kubectl });
    const [port] = await freePorts(1);
    terminal.replaced.set('localhost:5000', `localhost:${port}`);
    terminal.replaced.set(
      'npm run registry',
      `cd ${projectRoot} && node test/support/oci/run-registry.ts ${port}`,
    );
    await terminal.start('delivery-registry', 'A registry is at');
    await terminal.paste('delivery-push', /pushed as 1\.0\.0, stable/);
    await terminal.paste('delivery-sources');
    await terminal.start('delivery-sandbox', 'What happens from now on');
    await terminal.paste('delivery-installed', /^ {2}installed {2}1\.0\.0 /m);
    await terminal.paste('delivery-update', /^ {2}installed {2}1\.1\.0 /m);
    await terminal.paste('delivery-rollback', /^\d* +1\.0\.0 +\w+ +\S+ +running$/m);
    expect(await terminal.run('bin/addon-operator module versions web')).toMatch(
      /^ {2}installed {2}1\.0\.0 /m,
    );
    expect(terminal.taken).toEqual(DELIVERY_COMMANDS);
  });
});
