import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fieldsOf, stringOf } from '@addon-operator/json';
import { load } from 'js-yaml';
import type { Daemon } from '../../app/start.ts';
import { globalHooksRoot } from '../../hooks/load-hooks.ts';
import type { Module } from '../../modules/module.ts';
import type { InstanceSettings } from '../../settings/config-map-settings.ts';
import type { DebugEndpointSettings } from '../../settings/debug-settings.ts';
import type { DirectorySettings } from '../../settings/directory-settings.ts';
import type { ServerSettings } from '../../settings/server-settings.ts';
import { sectionOf } from '../../values/module-key.ts';
import { suggestEdit } from './edit-suggestion.ts';
import type { EndFacts } from './end-screen.ts';
import type { ProgressLines } from './progress-lines.ts';
import type { SandboxFiles } from './sandbox-paths.ts';

export interface EndFactsInput {
  readonly daemon: Daemon;
  readonly settings: InstanceSettings &
    Pick<DirectorySettings, 'modulesDirs' | 'globalHooksDir'> &
    Pick<ServerSettings, 'listenAddress'> &
    Pick<DebugEndpointSettings, 'debugUnixSocket'>;
  readonly lines: Pick<ProgressLines, 'helmVersion' | 'jqEngine'>;
  readonly files: SandboxFiles;
  readonly kubectl: string | undefined;
  readonly executable: string;
  readonly pageAddress: string | undefined;
  readonly elapsedMs: number;
}

/** Reads from the running daemon, and the releases in its cluster, what the end screen shows. */
export async function endFacts(input: EndFactsInput, signal: AbortSignal): Promise<EndFacts> {
  const { daemon, settings, lines, files } = input;
  const { operator, built, view, httpPort } = daemon;
  const { values } = built.configuration;
  const { releases, registry } = operator;
  const revisions = new Map<string, number>(
    (await releases.list(signal)).map(({ name, revision }) => [name, revision]),
  );
  const reasoned = ({ name }: Module): EndFacts['disabled'][number] => ({
    name,
    reason: registry.discovery?.decisions.get(name)?.reason ?? '',
  });
  const disabled = registry.modules.filter(({ name }) => !registry.isEnabled(name));
  const refused = registry.modules.filter(({ name }) => registry.holdOf(name) !== undefined);
  const running = registry.modules.filter((module) => ![...disabled, ...refused].includes(module));
  return {
    modules: running.map((module) => ({
      name: module.name,
      chartVersion: chartVersion(module),
      revision: revisions.get(module.name),
      hooks: (registry.tracked.get(module.name)?.hooks ?? []).map(({ hook }) => hook.name),
    })),
    disabled: disabled.map(reasoned),
    refused: refused.filter((module) => !disabled.includes(module)).map(reasoned),
    globalHooks: operator.globalHooks.runtimes.map(({ hook }) => hook.name),
    globalHooksDir: globalHooksRoot(settings.globalHooksDir),
    modulesDir: settings.modulesDirs.map((directory) => resolve(directory))[0],
    elapsedMs: input.elapsedMs,
    metricsUrl: `http://${urlHost(settings.listenAddress)}:${httpPort}/metrics`,
    pageAddress: input.pageAddress,
    namespace: settings.namespace,
    configMap: settings.configMapName,
    kubeconfig: files.kubeconfig,
    kubectl: input.kubectl,
    executable: input.executable,
    debugSocket: settings.debugUnixSocket,
    jqEngine: lines.jqEngine,
    helmVersion: lines.helmVersion,
    log: files.log,
    stateDir: files.stateDir,
    status: view.status().text,
    edit: suggestEdit(
      running
        .filter(({ chart }) => chart !== 'none')
        .map(({ name }) => ({
          name,
          section: sectionOf(name),
          values: values.writtenValues(name),
          configValues: values.configValues(name) ?? {},
          choices: (key) => values.choices(name, key),
          accepts: (section) => values.acceptsSection(name, section),
        })),
    ),
  };
}

function chartVersion({ chart, path }: Module): string {
  if (chart !== 'chart-yaml') return '';
  const document: unknown = load(readFileSync(join(path, 'Chart.yaml'), 'utf8'));
  return stringOf(fieldsOf(document)['version']);
}

function urlHost(address: string): string {
  if (address === '' || address === '0.0.0.0' || address === '::') return '127.0.0.1';
  return address.includes(':') ? `[${address}]` : address;
}
