import { expect, test } from 'vitest';
import type { Backend, World } from '../../support/world.ts';
import { exampleWorld, SOON } from '../example-world.ts';

const NAME = '700-typescript-hook';

export function typescriptHookTests(backend: () => Backend): void {
  test('700-typescript-hook: the hook sees Pods, counts its runs, and sets a config value and a value every 5 seconds', async () => {
    await using world = await exampleWorld(backend(), `catalogue/${NAME}`);
    const pod = { kind: 'Pod', metadata: { name: 'one' }, spec: { containers: [{ name: 'a', image: 'b' }] } };
    await world.create('pods', pod);
    await world.converge();
    expect(world.log.records).toContainEqual(
      expect.objectContaining({ msg: 'Hello from a global hook in TypeScript', hook: 'global-hook.ts' }),
    );
    const times = new Set<string>();
    for (let ticks = 1; ticks <= 2; ticks += 1) {
      world.clock.jump(5_000);
      await world.log.untilMessage('Pods in the snapshot', ticks);
      await expect.poll(async () => times.add(await savedTime(world)).size, SOON).toBeGreaterThan(ticks - 1);
    }
    const [line] = world.log.records.filter(({ msg }) => msg === 'Pods in the snapshot');
    expect(line).toMatchObject({ module: 'module-go-hooks', hook_count: expect.any(Number) });
    expect(line?.['hook_count']).toBeGreaterThanOrEqual(1);
    await world.daemon.operator.router.main.untilEmpty();
    const { values } = world.daemon.built.configuration;
    expect(values.values('module-go-hooks' as never)).toMatchObject({
      time: expect.any(String),
      timeTemp: expect.any(String),
    });
    const page = await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`)).text();
    expect(page).toMatch(
      /^addon_go_hooks_total\{binding=".+",hook="hooks\/typescript-hooks.ts",module="module-go-hooks"\} \d+$/m,
    );
  });
}

/** The time in the ConfigMap; empty while there is none. */
async function savedTime(world: World): Promise<string> {
  const object = (await world.get('configmaps', 'addon-operator')) as
    | { readonly data?: { readonly moduleGoHooks?: string } }
    | undefined;
  return object?.data?.moduleGoHooks ?? '';
}
