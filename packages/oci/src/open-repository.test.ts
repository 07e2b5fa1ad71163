import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { openRepository } from './open-repository.ts';

const { signal } = new AbortController();
const clock = new FakeClock();

test.each([
  ['oci://0.0.0.0:1/web', 'https://0.0.0.0:1/v2/web/'],
  ['oci://localhost:1/web', 'http://localhost:1/v2/web/'],
  ['oci://127.0.0.1:1/web', 'http://127.0.0.1:1/v2/web/'],
  ['oci://[::1]:1/web', 'http://[::1]:1/v2/web/'],
])('%s is requested at %s', async (url, address) => {
  await expect(openRepository(url, { clock }).tags(signal)).rejects.toMatchObject({
    code: 'REGISTRY_UNREACHABLE',
    message: expect.stringContaining(`${address}tags/list: `),
  });
});

test('a URL that is none and a mirror that is no registry are refused at once', () => {
  const open = (url: string, mirrors: readonly string[] = []): unknown =>
    openRepository(url, { clock, mirrors });
  expect(() => open('https://localhost/web')).toThrow(expect.objectContaining({ code: 'SOURCE_INVALID' }));
  expect(() => open('oci://localhost/web', ['oci-layout:///web'])).toThrow(
    'oci-layout:///web: a mirror is a registry',
  );
});

test('a reference that is neither a tag nor a digest is refused before a request', async () => {
  const repository = openRepository('oci://localhost:1/web', { clock });
  for (const reference of ['', '../x', 'a/b', 'sha256:1', 'a?b']) {
    await expect(repository.resolve(reference, signal)).rejects.toHaveProperty('code', 'SOURCE_INVALID');
    await expect(repository.manifest(reference, signal)).rejects.toHaveProperty('code', 'ARTIFACT_INVALID');
    await expect(repository.referrers(reference, signal)).rejects.toHaveProperty('code', 'ARTIFACT_INVALID');
  }
});
