import { onTestFinished } from 'vitest';
import { type SandboxBackend, sandboxBackend } from '../../support/backends.ts';
import type { CommandScenario } from '../command-scenario.ts';
import { Terminal, type TerminalPrograms } from '../terminal.ts';

const CONVERGED = 'first converge is finished';

/** A terminal whose `~/.kube/config` leads to an API; ports of daemons are free ones. */
async function onCluster(
  programs: TerminalPrograms,
  use: (terminal: Terminal, backend: SandboxBackend) => Promise<void>,
): Promise<readonly string[]> {
  const backend = await sandboxBackend();
  onTestFinished(() => backend[Symbol.asyncDispose]());
  const terminal = await Terminal.open(programs, {
    kubeconfig: backend.kubeconfigPath,
    env: { ADDON_OPERATOR_LISTEN_PORT: '0' },
  });
  await use(terminal, backend);
  return terminal.taken;
}

export const clusterTour: CommandScenario = {
  title: 'a daemon on a cluster',
  runs: ['cluster-start', 'running-start'],
  async run(programs) {
    return await onCluster(programs, async (terminal) => {
      await terminal.start('cluster-start', CONVERGED);
      await terminal.interrupt();
      await terminal.start('running-start', CONVERGED);
      await terminal.interrupt();
    });
  },
};

/** A chart with one ConfigMap. */
function chart(name: string, data: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {${data}}\n`;
}

export const planTour: CommandScenario = {
  title: 'a plan after a value has changed and a module was disabled',
  runs: ['plan'],
  async run(programs) {
    return await onCluster(programs, async (terminal) => {
      await terminal.run('rm -r modules global-hooks && mkdir global-hooks');
      await terminal.write('modules/001-web/values.yaml', 'webEnabled: true\nweb: {color: red}\n');
      await terminal.write(
        'modules/001-web/templates/web.yaml',
        chart('web', 'color: {{ .Values.web.color }}'),
      );
      await terminal.write('modules/002-old/values.yaml', 'oldEnabled: true\n');
      await terminal.write('modules/002-old/templates/old.yaml', chart('old', 'age: great'));
      await terminal.write(
        'modules/002-old/hooks/bye.sh',
        '#!/bin/sh\necho "configVersion: v1\nafterDeleteHelm: 3"\n',
      );
      const start = 'bin/addon-operator start --namespace addon-operator --exit-after-converge';
      await terminal.run(`kubectl create namespace addon-operator\n${start}`);
      await terminal.write('modules/001-web/values.yaml', 'webEnabled: true\nweb: {color: blue}\n');
      await terminal.run(
        'kubectl -n addon-operator create configmap addon-operator --from-literal=oldEnabled=false',
      );
      await terminal.paste('plan', /^- old: delete/, 2);
    });
  },
};
