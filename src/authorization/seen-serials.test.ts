import { expect, test } from 'vitest';
import { SeenSerials } from './seen-serials.ts';

const never = new AbortController().signal;

/** A store in memory; returns what is there too. */
function store(data: Record<string, string> = {}) {
  const kept: { data: Record<string, string> | undefined; writes: number } = { data, writes: 0 };
  const serials = (): SeenSerials =>
    new SeenSerials({
      read: async () => kept.data,
      change: async (change) => {
        kept.data = { ...change(kept.data ?? {}, kept.data !== undefined) };
        kept.writes += 1;
      },
    });
  return { kept, serials };
}

test('SeenSerials lets newer manifests in and keeps older ones out, also after a restart', async () => {
  const { kept, serials } = store();
  const first = serials();
  await first.check('web', { serial: 5, digest: 'a' }, never);
  await first.check('web', { serial: 5, digest: 'a' }, never);
  expect(kept).toEqual({ data: { web: '5 a' }, writes: 1 });
  await first.check('web', { serial: 6, digest: 'b' }, never);
  const second = serials();
  await expect(second.check('web', { serial: 5, digest: 'a' }, never)).rejects.toMatchObject({
    code: 'MODULE_UNAUTHORIZED',
    message: expect.stringContaining('has serial number 5, but number 6 has already run'),
  });
  await second.check('db', { serial: 1, digest: 'c' }, never);
  expect(kept.data).toEqual({ web: '6 b 5 a', db: '1 c' });
});

test('SeenSerials refuses another content with the same number', async () => {
  const { serials } = store({ web: '5 a' });
  await expect(serials().check('web', { serial: 5, digest: 'b' }, never)).rejects.toThrow(
    'different content was signed',
  );
});

test('SeenSerials respects serials that another daemon has recorded', async () => {
  const { kept, serials } = store();
  const ours = serials();
  await ours.check('db', { serial: 1, digest: 'a' }, never);
  kept.data = { ...kept.data, web: '9 x' };
  await expect(ours.check('web', { serial: 8, digest: 'w' }, never)).rejects.toThrow(
    'number 9 has already run',
  );
  expect(kept.data).toEqual({ db: '1 a', web: '9 x' });
});

test('SeenSerials remembers the content of a record that was deleted', async () => {
  const { kept, serials } = store({ web: '9 x' });
  const ours = serials();
  await ours.check('web', { serial: 9, digest: 'x' }, never);
  kept.data = undefined;
  await ours.check('db', { serial: 1, digest: 'a' }, never);
  expect(kept.data).toEqual({ web: '9 x', db: '1 a' });
  await expect(ours.check('web', { serial: 8, digest: 'w' }, never)).rejects.toThrow(
    'number 9 has already run',
  );
});

test('restore() writes a record again that was deleted, so that old manifests stay out after a restart', async () => {
  const { kept, serials } = store({ web: '9 x', bad: 'nonsense' });
  const ours = serials();
  expect(await ours.restore(never)).toBe(false);
  await ours.check('web', { serial: 9, digest: 'x' }, never);
  expect(await ours.restore(never)).toBe(false);
  kept.data = undefined;
  expect(await ours.restore(never)).toBe(true);
  expect(kept.data).toEqual({ web: '9 x' });
  await expect(serials().check('web', { serial: 8, digest: 'w' }, never)).rejects.toThrow(
    'number 9 has already run',
  );
});

test('restore() leaves out what a user has taken out of the record', async () => {
  const { kept, serials } = store({ web: '9 x' });
  const ours = serials();
  await ours.check('web', { serial: 9, digest: 'x' }, never);
  kept.data = {};
  expect(await ours.restore(never)).toBe(false);
  expect(kept).toEqual({ data: {}, writes: 0 });
});

test('SeenSerials lets nothing in where its record cannot be understood', async () => {
  const { serials } = store({ web: 'nonsense' });
  await expect(serials().check('web', { serial: 5, digest: 'a' }, never)).rejects.toThrow(
    'the record of its last serial number cannot be read',
  );
});

test('SeenSerials lets content that has run return on request, after which it is what runs', async () => {
  const { kept, serials } = store({ web: '7 c 6 b 5 a' });
  const ours = serials();
  const check = async (digest: string, serial: number, isReturn?: boolean) =>
    await ours.check('web', { serial, digest, ...(isReturn === true && { isReturn }) }, never);
  await expect(check('b', 6)).rejects.toThrow('number 7 has already run');
  await expect(check('x', 4, true)).rejects.toThrow('number 7 has already run');
  await expect(check('x', 6, true)).rejects.toThrow('number 7 has already run');
  await check('b', 6, true);
  expect(kept.data).toEqual({ web: '7 c *6 b 5 a' });
  await check('b', 6);
  await serials().check('web', { serial: 6, digest: 'b' }, never);
  await expect(check('a', 5)).rejects.toThrow('number 7 has already run');
  await check('c', 7);
  expect(kept.data).toEqual({ web: '7 c 6 b 5 a' });
  await expect(check('b', 6)).rejects.toThrow('number 7 has already run');
});

test('SeenSerials ends a return when something newer runs, and remembers the last twenty', async () => {
  const { kept, serials } = store({ web: '7 c *6 b' });
  const ours = serials();
  await ours.check('web', { serial: 8, digest: 'd' }, never);
  expect(kept.data).toEqual({ web: '8 d 7 c 6 b' });
  for (let serial = 9; serial <= 40; serial += 1)
    await ours.check('web', { serial, digest: `n${serial}` }, never);
  expect(kept.data?.['web']?.split(' ')).toHaveLength(40);
  await expect(ours.check('web', { serial: 20, digest: 'n20', isReturn: true }, never)).rejects.toThrow(
    'number 40 has already run',
  );
  await ours.check('web', { serial: 21, digest: 'n21', isReturn: true }, never);
});

test('SeenSerials respects a return that another daemon has accepted', async () => {
  const { kept, serials } = store({ web: '6 b 5 a' });
  const standby = serials();
  await standby.check('web', { serial: 6, digest: 'b' }, never);
  await serials().check('web', { serial: 5, digest: 'a', isReturn: true }, never);
  await standby.check('web', { serial: 5, digest: 'a' }, never);
  expect(kept.data).toEqual({ web: '6 b *5 a' });
});
