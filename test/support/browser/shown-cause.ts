import { homedir } from 'node:os';
import { execa } from 'execa';
import { expect, vi } from 'vitest';
import type { ModuleExplanation, ModuleStatus } from '../../../src/status/module-explanation.ts';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../../src/tools/pinned-tools/pinned-tools.ts';
import { eventsOf } from '../module-world.ts';
import type { World } from '../world.ts';
import { runInWorld } from '../world-command.ts';
import { goTo } from './pages.ts';
import { apiOf, uiAddress } from './ui-world.ts';
import type { WatchedPage } from './watched-page.ts';

const WAIT = { timeout: 120_000, interval: 200 };

export interface ShownCause {
  readonly status: ModuleStatus;
  /** The first condition that is not true. */
  readonly node: string;
  /** In all places. */
  readonly text: string;
}

/** The real `kubectl get modules`, for the cluster of a world. */
export type GetModule = (world: World, name: string) => Promise<string>;

export async function kubectlGetModule(): Promise<GetModule> {
  const cacheDir = cacheDirectory(process.env, homedir());
  const kubectl = await pinnedKubectl(
    { cacheDir, onProgress: () => undefined },
    new AbortController().signal,
  );
  return async (world, name) => {
    const args = ['--kubeconfig', world.backend.kubeconfigPath, 'get', 'modules', name, '-o', 'wide'];
    return (await execa(kubectl, args)).stdout;
  };
}

/** Waits until `kubectl get modules`, the Events, `status`, `explain` and two pages name the same cause. */
export async function untilShown(
  { world, page, getModule }: { world: World; page: WatchedPage; getModule: GetModule },
  name: string,
  { status, node, text }: ShownCause,
): Promise<void> {
  const address = await uiAddress(world);
  await vi.waitFor(async () => {
    const explained = await apiOf<ModuleExplanation>(address, `modules/${name}`);
    const first = explained.why?.children.find(({ ok }) => ok === false);
    expect([explained.status, first?.id ?? null]).toEqual([status, node]);
    expect(`${first?.text ?? explained.why?.text}`).toContain(text);
  }, WAIT);
  await vi.waitFor(async () => expect(await getModule(world, name)).toContain(text), WAIT);
  await vi.waitFor(async () => {
    const event = expect.objectContaining({ message: expect.stringContaining(text) });
    expect(await eventsOf(world, name)).toContainEqual(event);
  }, WAIT);
  expect((await runInWorld(world, 'status')).stdout).toContain(text);
  expect((await runInWorld(world, 'module', 'list', '--all', '-o', 'wide')).stdout).toContain(text);
  const { stdout: listed } = await runInWorld(world, 'module', 'list', '--all', '-o', 'json');
  expect(JSON.parse(listed)).toMatchObject({
    modules: expect.arrayContaining([expect.objectContaining({ module: name, status })]),
  });
  const word = status.replace('-', ' ');
  const { stdout: explained } = await runInWorld(world, 'explain', 'module', name);
  expect(explained).toContain(text);
  expect(explained).toMatch(new RegExp(`^status +${word}$`, 'mu'));
  await goTo(page, `modules/${name}/why`);
  await page.page.locator('header.title').getByText(word, { exact: true }).waitFor();
  await page.page.locator('main').getByText(text).first().waitFor();
  await goTo(page, '');
  await page.page.locator('main').getByText(text).first().waitFor();
}
