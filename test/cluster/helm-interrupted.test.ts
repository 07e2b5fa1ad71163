import { expect, test, vi } from 'vitest';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import { rejection } from '../support/rejection.ts';
import { describeHelm } from './helm-suite.ts';
import { HANGING_HOOK } from './helm-templates.ts';

const signal = new AbortController().signal;
const WAIT_MS = 60_000;

describeHelm('helm driver beside a helm that is killed, stopped or of a person', (lab) => {
  test('deploy() calls a failed helm a second time at once, and succeeds', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const deploying = lab.deploy({ greeting: 'good day' });
    await lab.untilHookRuns();
    await lab.world.put({ 'templates/hook.yaml': undefined });
    await lab.world.killHelm();
    expect(await deploying).toMatchObject({ action: 'upgraded', revision: 3 });
    expect(await lab.world.statuses()).toEqual(['1 superseded', '2 failed', '3 deployed']);
  });

  test('deploy() marks a revision as failed whose helm was killed with its daemon, and upgrades', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const first = lab.deploy({ greeting: 'good day' });
    const failing = rejection(first);
    await lab.untilHookRuns();
    await lab.world.killHelm();
    await vi.waitFor(async () => expect(await lab.world.statuses()).toContain('3 pending-upgrade'), WAIT_MS);
    await lab.world.killHelm();
    expect(await failing).toContain('helm was killed by SIGKILL');
    await lab.world.put({ 'templates/hook.yaml': undefined });
    const restarted = await lab.world.driver();
    const request = {
      module: { name: 'web', path: lab.world.modulePath },
      values: { web: { greeting: 'good day' } },
    };
    expect(await restarted.deploy(request, signal)).toMatchObject({ action: 'upgraded', revision: 4 });
    await restarted.monitors.stopAll();
    expect(await lab.world.statuses()).toEqual(['1 superseded', '2 failed', '3 failed', '4 deployed']);
    expect(await lab.greeting()).toEqual({ greeting: 'good day' });
  });

  test('deploy() waits for another helm on the release, and takes over after the time limit of helm', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const person = lab.world.person('upgrade', 'web', lab.world.modulePath, '--set', 'web.greeting=mine');
    const killed = rejection(person);
    await lab.untilHookRuns();
    await lab.world.put({ 'templates/hook.yaml': undefined });
    await expect(lab.deploy({ greeting: 'good day' })).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    await expect(lab.driver.uninstall('web', signal)).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    expect(await lab.world.statuses()).toEqual(['1 deployed', '2 pending-upgrade']);
    person.kill('SIGKILL');
    expect(await killed).toContain('SIGKILL');
    await expect(lab.deploy({ greeting: 'good day' })).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    lab.world.clock.jump(22 * 60_000);
    expect(await lab.deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 3 });
    expect(await lab.world.statuses()).toEqual(['1 superseded', '2 failed', '3 deployed']);
  });

  test('deploy() does not treat a revision of another helm as its own', async () => {
    await lab.deploy();
    await lab.world.person('upgrade', 'web', lab.world.modulePath, '--set', 'web.greeting=mine');
    expect(await lab.greeting()).toEqual({ greeting: 'mine' });
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded', revision: 3 });
    expect(await lab.greeting()).toEqual({ greeting: 'hello' });
  });

  test('deploy() stops helm when the signal aborts, and waits for its end', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const abort = new AbortController();
    const deploying = lab.deploy({ greeting: 'good day' }, abort.signal);
    const aborted = rejection(deploying);
    await lab.untilHookRuns();
    abort.abort(new Error('daemon stops'));
    expect(await aborted).toBe('daemon stops');
    expect(await lab.world.helmPids()).toEqual([]);
    expect(await lab.world.statuses()).toEqual(['1 deployed', '2 failed']);
    await lab.world.put({ 'templates/hook.yaml': undefined });
    expect(await lab.deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 3 });
  });

  test('deploy() keeps the configured number of revisions, and ends a helm hook at its time limit', async () => {
    const request = (greeting: string): Parameters<HelmDriver['deploy']>[0] => ({
      module: { name: 'web', path: lab.world.modulePath },
      values: { web: { greeting } },
    });
    const strict = await lab.world.driver({ historyMax: 2, timeoutMs: 1_000 });
    for (const greeting of ['a', 'b', 'c', 'd']) await strict.deploy(request(greeting), signal);
    expect(await lab.world.statuses()).toEqual(['3 superseded', '4 deployed']);
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    await expect(strict.deploy(request('e'), signal)).rejects.toThrow(/timed out|deadline|not ready/);
    expect((await lab.world.statuses()).at(-1)).toMatch(/failed$/);
    await strict.monitors.stopAll();
  });
});
