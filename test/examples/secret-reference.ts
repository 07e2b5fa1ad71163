import { expect, test, vi } from 'vitest';
import type { Backend, World } from '../support/world.ts';
import { exampleWorld, SOON } from './example-world.ts';

/** The configuration file that the chart made; empty while there is none. */
async function configFile(world: World): Promise<string> {
  const secret = (await world.get('secrets', 'mailer')) as { data?: Record<string, string> } | undefined;
  return Buffer.from(secret?.data?.['mailer.conf'] ?? '', 'base64').toString();
}

export function secretReferenceTests(backend: () => Backend): void {
  test('secret-reference: the module waits for its Secret, gets its content, and follows changes', async () => {
    const flags = { 'secret-references': 'mailer' };
    await using world = await exampleWorld(backend(), 'secret-reference', { flags });
    await world.start();
    await world.untilDelayed();
    expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain(
      `at mailer.password: key "password" of Secret ${world.namespace}/mail-account: the Secret does not exist`,
    );
    await world.create('secrets', {
      kind: 'Secret',
      metadata: { name: 'mail-account' },
      stringData: { password: 'swordfish' },
    } as { readonly metadata: { readonly name: string } });
    await world.daemon.firstConverge;
    expect(await configFile(world)).toBe('server = mail.example.com\npassword = swordfish\n');
    await world.merge('secrets', 'mail-account', { stringData: { password: 'red-herring' } });
    await vi.waitFor(async () => expect(await configFile(world)).toContain('password = red-herring'), SOON);
    expect(world.log.dump()).not.toMatch(/swordfish|red-herring/);
  });
}
