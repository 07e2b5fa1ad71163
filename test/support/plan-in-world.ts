import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect } from 'vitest';
import { FaultProxy, type Upstream } from './fault-proxy.ts';
import type { World } from './world.ts';
import { runInWorld } from './world-command.ts';
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
  readonly text: string;
  readonly data: PlanData;
}

/** Plans as text and as JSON, through a proxy that sees to it that nothing is written. */
export async function plan(world: World, ...args: readonly string[]): Promise<PlanResult> {
  await using proxy = await FaultProxy.start(await upstreamOf(world));
  await writeTree(world.directory, { 'proxied-kubeconfig': proxy.kubeconfig });
  const flags = { ...world.flags, 'kube-config': join(world.directory, 'proxied-kubeconfig') };
  const { settingsEnv, hostEnv, directory } = world;
  const run = (...more: readonly string[]) =>
    runInWorld({ flags, settingsEnv, hostEnv, directory }, 'plan', ...args, ...more);
  const text = await run();
  const json = await run('-o', 'json');
  expect(text.stderr).toBe('');
  expect(json.exitCode).toBe(text.exitCode);
  expect(proxy.calls.length).toBeGreaterThan(0);
  expect(proxy.calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))).toEqual([]);
  return { exitCode: text.exitCode, text: text.stdout, data: JSON.parse(json.stdout) as PlanData };
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
