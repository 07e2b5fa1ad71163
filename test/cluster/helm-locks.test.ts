import type { Clock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { JumpClock } from '../support/jump-clock.ts';
import { describeHelm, type HelmLab } from './helm-suite.ts';
import { HANGING_HOOK } from './helm-templates.ts';

const signal = new AbortController().signal;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Leaves the release as a person's helm does whose machine went down. */
async function leaveLocked(lab: HelmLab): Promise<void> {
  await lab.deploy();
  await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
  const person = lab.world.person('upgrade', 'web', lab.world.modulePath, '--set', 'web.greeting=mine');
  const ended = person.catch(() => undefined);
  await lab.untilHookRuns();
  person.kill('SIGKILL');
  await ended;
  await lab.world.put({ 'templates/hook.yaml': undefined });
}

describeHelm('a release that another helm has locked', (lab) => {
  const request = (): Parameters<typeof lab.driver.deploy>[0] => ({
    module: { name: 'web', path: lab.world.modulePath },
    values: { global: {}, web: { greeting: 'good day' } },
  });

  test('deploy() takes over a lock by its own monotonic clock, with any wall clocks', async () => {
    await leaveLocked(lab);
    const steady = new JumpClock();
    let setByMs = 0;
    const clock: Clock = {
      wallMs: () => steady.wallMs() + setByMs,
      steadyMs: () => steady.steadyMs(),
      sleep: (ms, abort) => steady.sleep(ms, abort),
    };
    const driver = await lab.world.driver({ clock });
    // The clock of the API server is a day behind, or the local clock was set.
    setByMs = DAY_MS;
    await expect(driver.deploy(request(), signal)).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    await expect(driver.uninstall('web', signal)).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    steady.jump(20 * MINUTE_MS);
    await expect(driver.deploy(request(), signal)).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    setByMs = -DAY_MS;
    steady.jump(MINUTE_MS);
    expect(await driver.deploy(request(), signal)).toMatchObject({ action: 'upgraded', revision: 3 });
    await driver.monitors.stopAll();
    expect(await lab.world.statuses()).toEqual(['1 superseded', '2 failed', '3 deployed']);
  });

  test('unlock() lets a release be taken over at once, with the command that the error names', async () => {
    await leaveLocked(lab);
    await expect(lab.driver.deploy(request(), signal)).rejects.toMatchObject({
      code: 'HELM_LOCKED',
      message: expect.stringContaining('addon-operator module release-unlock web') as string,
    });
    expect(await lab.driver.unlock('none', signal)).toEqual({ type: 'absent' });
    expect(await lab.driver.unlock('web', signal)).toMatchObject({ type: 'unlocked', revision: 2 });
    expect(await lab.driver.deploy(request(), signal)).toMatchObject({ action: 'upgraded', revision: 3 });
    expect(await lab.driver.unlock('web', signal)).toEqual({ type: 'not-locked', state: 'deployed' });
  });

  test('unlock() fails while helm of this process works on the release', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const stop = new AbortController();
    const deploying = lab.driver.deploy(request(), stop.signal);
    const ended = deploying.catch(() => undefined);
    await lab.untilHookRuns();
    expect(await lab.driver.unlock('web', signal)).toEqual({ type: 'busy', state: 'pending-upgrade' });
    stop.abort();
    await ended;
  });
});
