import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../checks/checkout.ts';
import type { CommandScenario } from '../command-scenario.ts';
import { Terminal } from '../terminal.ts';

const BROKEN_HOOK = `#!/bin/sh
if [ "$1" = --config ]; then
  echo '{"configVersion": "v1", "onStartup": 1}'
  exit
fi
echo "something is wrong" >&2
exit 1
`;
const SWITCH = 'kubectl -n addon-operator patch configmap addon-operator --type merge -p';

export const hookDoesNotRunTour: CommandScenario = {
  title: 'the six questions about a hook that does not run',
  runs: [
    'no-run-file',
    'no-run-module',
    'no-run-runs',
    'no-run-queue',
    'no-run-snapshot',
    'no-run-next',
    'no-run-trigger',
  ],
  async run(programs) {
    const terminal = await Terminal.open(programs);
    await inPath(terminal);
    await terminal.run(`rm -r modules global-hooks
mkdir modules global-hooks
addon-operator module new dns --with schema
addon-operator hook new modules/030-dns/hooks/records.sh --on kubernetes:v1/ConfigMap
addon-operator hook new modules/030-dns/hooks/nightly.sh --on 'schedule:0 3 * * *'
chmod -x modules/030-dns/hooks/records.sh`);
    await terminal.paste('no-run-file', /[^]*/, 1);
    await terminal.run('chmod +x modules/030-dns/hooks/records.sh');

    await terminal.startCommands('exec bin/addon-operator sandbox', 'What happens from now on');
    await terminal.run(`export KUBECONFIG=$PWD/.sandbox/kubeconfig
${SWITCH} '{"data":{"dnsEnabled":"false"}}'`);
    await terminal.look('no-run-module');
    await terminal.run(`${SWITCH} '{"data":{"dnsEnabled":null}}'
addon-operator wait module dns --for ready --timeout 60s`);

    await terminal.look('no-run-runs', /success +ModuleHookRun dns\/hooks\/records\.sh \(kubernetes\)/);
    await terminal.write('global-hooks/broken.sh', BROKEN_HOOK);
    await terminal.look('no-run-queue', /^queue main waits \d+ s to try GlobalHookRun broken\.sh again /, 1);
    await terminal.run('rm global-hooks/broken.sh\naddon-operator wait module dns --for ready --timeout 60s');

    await terminal.look(
      'no-run-snapshot',
      /^hooks\/records\.sh:\n {2}objects:\n[^]* snapshot:\n {6}- filterResult:\n/,
    );
    await terminal.look('no-run-next', /^\S+ +dns +hooks\/nightly\.sh .* schedule$/mu);
    await terminal.paste('no-run-trigger');
    return terminal.taken;
  },
};

/** The page calls the operator as it is called in the image. */
async function inPath(terminal: Terminal): Promise<void> {
  const programs = join(terminal.directory, 'home/bin');
  await mkdir(programs);
  await symlink(join(projectRoot, 'bin/addon-operator'), join(programs, 'addon-operator'));
  await terminal.run('export PATH="$HOME/bin:$PATH"');
}
