import { systemClock } from '@addon-operator/base/clock';
import { expect, test, vi } from 'vitest';
import { startDaemon } from '../../src/app/start.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';

const SOON = { timeout: 60_000, interval: 20 };
const LEASE = 'addon-operator-leader-election';

describeApiIndependent((backend) => {
  test('a standby returns memory while it waits for the lead', async () => {
    await using world = await World.create(backend(), {});
    await world.expect({
      method: 'POST',
      path: `/apis/coordination.k8s.io/v1/namespaces/${world.namespace}/leases`,
      body: {
        metadata: { name: LEASE },
        spec: { holderIdentity: 'operator-a', leaseDurationSeconds: 35, renewTime: microTime() },
      },
    });
    const env = {
      ...world.settingsEnv,
      ADDON_OPERATOR_HA: 'true',
      ADDON_OPERATOR_POD: 'operator-b',
      ADDON_OPERATOR_NAMESPACE: world.namespace,
      ADDON_OPERATOR_LISTEN_ADDRESS: '127.0.0.1',
    };
    const returnCode = vi.fn(async () => undefined);
    const stop = new AbortController();
    const started = startDaemon(
      readSettings({ flags: world.flags, env }),
      {
        env: world.hostEnv,
        cwd: world.directory,
        clock: world.clock,
        steadyClock: systemClock,
        random: () => 0,
        log: world.log.logger,
        version: '0.0.0-test',
        memory: {
          read: () => ({ usedBytes: 0, keptBytes: 0 }),
          cpuMs: () => 0,
          collect: () => undefined,
          returnCode,
        },
      },
      stop.signal,
    );
    const isWaiting = expect.objectContaining({ msg: 'HA mode is enabled: waiting for the lease' });
    await vi.waitFor(() => expect(world.log.records).toContainEqual(isWaiting), SOON);
    await vi.waitFor(() => {
      world.clock.jump(5_000);
      expect(returnCode).toHaveBeenCalled();
    }, SOON);
    stop.abort();
    await expect(started).rejects.toThrow('aborted');
  });
});

/** As the API writes times of leases. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
