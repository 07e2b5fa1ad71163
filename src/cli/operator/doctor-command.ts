import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { parseJson } from '@addon-operator/json';
import { inspect } from '../../app/inspect.ts';
import { clusterFacts } from '../../devkit/doctor-facts.ts';
import { sourceProblems } from '../../devkit/doctor-sources.ts';
import type { Inspection } from '../../plan/inspection.ts';
import { requestDebug } from '../../server/debug-client.ts';
import type { Settings } from '../../settings.ts';
import {
  bundleOf,
  type ClusterFacts,
  type DaemonFacts,
  type DoctorFacts,
  findingsOf,
  findingsText,
  leftOut,
  machineFacts,
} from '../../tools/doctor/doctor.ts';
import type { CliHost } from '../cli-host.ts';
import { findDebugSocket } from '../find-socket.ts';
import { harmless } from '../harmless.ts';
import { printData } from '../output/print-data.ts';
import { quietHost } from '../quiet-host.ts';
import { readVersion } from '../version.ts';
import { adoptPatches } from './adopt-patches.ts';
import { type OperatorSettings, operatorSettings, withCluster } from './operator-settings.ts';

export interface DoctorOptions {
  /** Values given on the command line, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
  readonly format: 'text' | 'json';
  /** File of the archive for a bug report. */
  readonly bundle?: string;
}

/** Pages of a running operator that the archive holds. */
const DAEMON_PAGES = [
  '/status.json',
  '/queue/list.json',
  '/module/list.json?all=true',
  '/api/v1/runs',
  '/api/v1/about',
];

/** Prints what is wrong, and returns the exit code: 1 when something is. */
export async function doctorCommand(
  { flags, format, bundle }: DoctorOptions,
  host: CliHost,
): Promise<number> {
  const pages = await daemonPages(await findDebugSocket(flags, host), host);
  const daemon = pages['/status.json'] as DaemonFacts | undefined;
  const { settings, ...facts } = await factsOf(flags, host);
  const all: DoctorFacts = { ...facts, ...(daemon && { daemon }) };
  const findings = findingsOf(all);
  const notChecked = leftOut(all);
  if (bundle !== undefined) {
    const versions = { operator: readVersion(), node: process.version, server: facts.cluster?.serverVersion };
    const documents = { findings, notChecked, versions, settings, facts: all, operator: pages };
    const files = Object.entries(documents).map(
      ([name, document]) => [`${name}.json`, document ?? null] as const,
    );
    const path = resolve(host.cwd, bundle);
    writeBundle(path, bundleOf(Object.fromEntries(files), host.clock.wallMs()));
  }
  if (format === 'json') printData(host, `${JSON.stringify({ findings, notChecked }, null, 2)}\n`);
  else host.stdout.write(harmless(findingsText(findings)));
  for (const note of notChecked) host.stderr.write(`Note: ${note}\n`);
  return findings.length === 0 ? 0 : 1;
}

function writeBundle(path: string, content: Buffer): void {
  try {
    writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new OperatorError('CONFIG_INVALID', `--bundle: ${messageOf(error)}`, { cause: error });
  }
}

async function factsOf(
  flags: DoctorOptions['flags'],
  host: CliHost,
): Promise<
  Pick<DoctorFacts, 'machine' | 'failure' | 'isWithoutCluster'> & {
    readonly cluster?: ClusterFacts;
    readonly settings?: Settings;
  }
> {
  const signal = host.stopSignal();
  const failed = (error: unknown): Pick<DoctorFacts, 'failure'> => {
    signal.throwIfAborted();
    return { failure: { code: codeOf(error) ?? '', message: messageOf(error) } };
  };
  let operator: OperatorSettings;
  try {
    operator = await operatorSettings(flags, host);
  } catch (error) {
    return {
      machine: { tmpDir: { path: '', isNoexec: false, freeBytes: Number.POSITIVE_INFINITY } },
      ...failed(error),
    };
  }
  const { settings, socketPath } = operator;
  const { moduleStore } = settings;
  const directories = {
    tmpDir: resolve(host.cwd, settings.tmpDir),
    moduleStore: moduleStore === '' ? undefined : resolve(host.cwd, moduleStore),
  };
  const machine = machineFacts(directories, settings.watchesFiles);
  try {
    return await withCluster(settings, host, async ({ isMadeUp, ...found }) => {
      const cluster = await factsOfCluster({ ...found, socketPath }, signal);
      return { machine, settings, cluster, ...(isMadeUp && { isWithoutCluster: true }) };
    });
  } catch (error) {
    return { machine, settings, ...failed(error) };
  }
}

/** With the values that hooks have set in the operator that runs, so that charts render as they do there. */
async function factsOfCluster(
  { settings, host, socketPath }: OperatorSettings & { readonly host: CliHost },
  signal: AbortSignal,
): Promise<ClusterFacts> {
  // What the operator would log is what findings say.
  const quiet = quietHost({ ...host, stderr: { write: () => true } });
  const { configMapName: configMap, moduleSourcesFile: file } = settings;
  const { clock } = host;
  const look = async (found: Inspection): Promise<ClusterFacts> => {
    const names = found.operator.registry.modules.map(({ name }) => name);
    const lacking = await adoptPatches(found, names, { socketPath, clock }, signal);
    const facts = await clusterFacts({ ...found, configMap }, clock, signal);
    const { base, namespace } = found;
    const checks = { kube: base.cluster.helm, namespace, file, clock, env: host.env };
    return {
      ...facts,
      sourceProblems: await sourceProblems(checks, signal),
      accessProblems: [...lacking, ...facts.accessProblems],
    };
  };
  return await inspect(settings, quiet, look, signal);
}

/** By path; empty when no operator responds. */
async function daemonPages(
  socketPath: string,
  { clock }: CliHost,
): Promise<Readonly<Record<string, unknown>>> {
  const pages: Record<string, unknown> = {};
  for (const path of DAEMON_PAGES) {
    try {
      const { status, body } = await requestDebug({ socketPath, path }, clock);
      if (status === 200) pages[path] = parseJson(body);
    } catch (error) {
      if (!hasCode(error, 'DEBUG_SOCKET')) throw error;
      return pages;
    }
  }
  return pages;
}
