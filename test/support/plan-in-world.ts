import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect } from 'vitest';
import { FaultProxy, type Upstream } from './fault-proxy.ts';
import type { World } from './world.ts';
import { type CommandResult, runInWorld } from './world-command.ts';
import { writeTree } from './world-files.ts';

export interface PlanData {
  readonly outcome: string;
  readonly modules: readonly {
    readonly module: string;
    readonly action: string;
    readonly reason: string;
    readonly causes: readonly string[];
    readonly crds: readonly { readonly change: string; readonly object: string }[];
  }[];
}

export interface PlanResult {
  readonly exitCode: number;
  readonly data: PlanData;
}

/** Plans, through a proxy that sees to it that nothing is written. */
export async function plan(world: World, ...args: readonly string[]): Promise<PlanResult> {
  const [{ exitCode, stdout }] = await runPlans(world, [...args, '-o', 'json']);
  return { exitCode, data: JSON.parse(stdout) as PlanData };
}

/** The same also as text. */
export async function planWithText(
  world: World,
  ...args: readonly string[]
): Promise<PlanResult & { readonly text: string }> {
  const [json, text] = await runPlans(world, [...args, '-o', 'json'], args);
  expect(json.exitCode).toBe(text.exitCode);
  return { exitCode: json.exitCode, data: JSON.parse(json.stdout) as PlanData, text: text.stdout };
}

type Args = readonly string[];

async function runPlans<const T extends readonly Args[]>(
  world: World,
  ...plans: T
): Promise<{ [K in keyof T]: CommandResult }> {
  await using proxy = await FaultProxy.start(await upstreamOf(world));
  await writeTree(world.directory, { 'proxied-kubeconfig': proxy.kubeconfig });
  const flags = { ...world.flags, 'kube-config': join(world.directory, 'proxied-kubeconfig') };
  const { settingsEnv, hostEnv, directory } = world;
  const results: CommandResult[] = [];
  for (const args of plans)
    results.push(await runInWorld({ flags, settingsEnv, hostEnv, directory }, 'plan', ...args));
  expect(results.map(({ stderr }) => stderr).join('')).toBe('');
  expect(proxy.calls.length).toBeGreaterThan(0);
  expect(proxy.calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))).toEqual([]);
  return results as { [K in keyof T]: CommandResult };
}

/** The API server of a world, from its kubeconfig. */
async function upstreamOf({ backend, directory }: World): Promise<Upstream> {
  const config = load(await readFile(backend.kubeconfigPath, 'utf8')) as {
    clusters: [{ cluster: Record<string, string> }];
    users: [{ user: Record<string, string> }];
  };
  const { server = '', ...cluster } = config.clusters[0].cluster;
  const { user } = config.users[0];
  const fields = {
    caFile: cluster['certificate-authority-data'],
    certFile: user['client-certificate-data'],
    keyFile: user['client-key-data'],
  };
  const files: Record<string, string> = {};
  for (const [name, data] of Object.entries(fields)) {
    if (data === undefined) continue;
    await writeTree(directory, { [name]: Buffer.from(data, 'base64').toString() });
    files[name] = join(directory, name);
  }
  return { serverUrl: server, ...files };
}
