import { TLSSocket } from 'node:tls';
import { systemClock } from '@addon-operator/base/clock';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';
import { describe, expect, test, vi } from 'vitest';
import { type HookResponse, startHookServer } from '../support/hook-server.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';

const NOTHING = (): object => ({});

/** No record shows when a Secret was seen: lets the delays of the attempts before that pass until the server is asked. */
async function untilAsked(world: World, requests: readonly unknown[]): Promise<void> {
  await vi.waitFor(
    () => {
      const { status } = world.daemon.operator.router.main;
      if (status.type === 'delayed') world.clock.jump(status.delayMs);
      expect(requests).not.toEqual([]);
    },
    { timeout: 60_000, interval: 200 },
  );
}

/** What an HTTP hook keeps in Secrets: tokens, certificates, authorities. */
describeLifecycle((backend) => {
  describe('an HTTP hook', () => {
    test('sends the token of a Secret, waits for a missing one, follows its changes, and shows it nowhere', async () => {
      await using server = await startHookServer(NOTHING);
      const auth = 'auth: {bearerToken: {secretKeyRef: {name: hook-token, key: token}}}';
      await using world = await World.create(backend(), {
        flags: { 'log-level': 'debug' },
        globalHooks: {
          'a.http.yaml': `address: ${server.url}/\n${auth}\nonStartup: 1\nschedule: [{crontab: '* * * * * *'}]\n`,
        },
      });
      await world.start();
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toBe(
        `global hook 'a.http.yaml' failed: key "token" of Secret ${world.namespace}/hook-token does not exist: create it`,
      );
      expect(server.bodies).toEqual([]);
      await world.create('secrets', {
        metadata: { name: 'hook-token' },
        stringData: { token: 'first-token' },
      } as never);
      await untilAsked(world, server.bodies);
      await world.daemon.firstConverge;
      const data = { token: Buffer.from('second-token').toString('base64') };
      await world.merge('secrets', 'hook-token', { data });
      while (!server.headers('authorization').includes('Bearer second-token')) {
        const asked = server.bodies.length;
        world.clock.jump(1_000);
        await world.log.until(() => server.bodies.length > asked);
      }
      expect(server.headers('authorization')[0]).toBe('Bearer first-token');
      expect(JSON.stringify(world.log.records)).not.toMatch(/(?:first|second)-token/);
    });

    test('trusts only the CA in its Secret, and presents its client certificate', async () => {
      const now = systemClock.wallMs();
      const period = { notBeforeMs: now - 3_600_000, notAfterMs: now + 3_600_000 };
      const [authority, wrong] = ['right', 'wrong'].map((commonName) =>
        createAuthority({ commonName, ...period }),
      );
      if (authority === undefined || wrong === undefined) throw new Error('no authorities');
      const serving = issueCertificate(authority, { commonName: 'server', ...period }, ['127.0.0.1']);
      const client = issueCertificate(authority, { commonName: 'operator', ...period }, ['operator']);
      const shown: unknown[] = [];
      const look: HookResponse = (_body, _request, { socket }) => {
        if (socket instanceof TLSSocket) shown.push(socket.getPeerCertificate().subject?.CN);
        return {};
      };
      await using server = await startHookServer(look, {
        ...serving,
        requestCert: true,
        rejectUnauthorized: false,
      });
      const base64 = (text: string): string => Buffer.from(text).toString('base64');
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.http.yaml': `address: ${server.url}/
tls:
  ca: {secretKeyRef: {name: hook-tls, key: ca.crt}}
  clientCertificate: {secretRef: {name: hook-tls}}
onStartup: 1
`,
        },
      });
      const data = {
        'ca.crt': base64(wrong.cert),
        'tls.crt': base64(client.cert),
        'tls.key': base64(client.key),
      };
      await world.create('secrets', { metadata: { name: 'hook-tls' }, data } as never);
      await world.start();
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(
        /; set tls\.ca to the authority of its certificate$/,
      );
      expect(server.bodies).toEqual([]);
      await world.merge('secrets', 'hook-tls', { data: { 'ca.crt': base64(authority.cert) } });
      await untilAsked(world, server.bodies);
      expect(shown).toEqual(['operator']);
      await world.daemon.firstConverge;
    });

    test('needs permission to watch its Secrets in other namespaces, which the command rbac names', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.http.yaml': `address: https://127.0.0.1:1/
tls: {clientCertificate: {secretRef: {name: pair, namespace: elsewhere}}}
auth: {bearerToken: {secretKeyRef: {name: own, key: token}}}
onStartup: 1
`,
        },
      });
      const { exitCode, stdout } = await runInWorld(world, 'rbac');
      expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/resourceNames:\s+- pair\b/)]);
      expect(stdout).not.toMatch(/- own\b/);
    });
  });
});
