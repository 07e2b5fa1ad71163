import { constants, generateKeyPairSync } from 'node:crypto';
import { appendFile, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sshPublicKey } from '@addon-operator/crypto/ssh-keys';
import { signMessage } from '@addon-operator/crypto/ssh-signature';
import { beforeEach, describe, expect, test } from 'vitest';
import { attach, CosignSigner } from '../../test/support/cosign-signer.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { digestOf, MemoryRepository } from '../../test/support/oci-memory.ts';
import { manifestText } from '../authorization/content-manifest.ts';
import { readContent } from '../authorization/module-content.ts';
import type { ModuleArtifact } from './module-artifact.ts';
import { verifyArtifact, verifyContent } from './verify-artifact.ts';

const SIGNAL = new AbortController().signal;
const SIGNER = new CosignSigner();
const OTHER = new CosignSigner();

let repository: MemoryRepository;
let artifact: ModuleArtifact;

beforeEach(() => {
  repository = new MemoryRepository();
  const { digest } = repository.putManifest({ layers: [] }, '1.0.0');
  artifact = { format: 'module', digest, facts: { version: '1.0.0' }, layers: [] };
});

async function verified(...cosignKeys: readonly string[]): Promise<void> {
  await verifyArtifact(repository, artifact, { cosignKeys }, SIGNAL);
}

describe('cosign', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  test.each([
    ['ECDSA P-256', SIGNER],
    ['ECDSA P-384 with SHA-256', new CosignSigner(p384)],
    ['ECDSA P-384 with SHA-384', new CosignSigner(p384, 'sha384')],
    ['RSA PKCS1', new CosignSigner(rsa)],
    ['RSA PSS', new CosignSigner(rsa, 'sha256', constants.RSA_PKCS1_PSS_PADDING)],
    ['Ed25519', new CosignSigner(generateKeyPairSync('ed25519'))],
  ])('%s is verified as a bundle and in the older form, with one of several keys', async (_title, signer) => {
    attach(repository, artifact.digest, signer.bundle(artifact.digest));
    await verified(OTHER.publicKey, signer.publicKey);
    await verified(`${OTHER.publicKey}\n${signer.publicKey}`);
    await expect(verified(OTHER.publicKey)).rejects.toMatchObject({ code: 'MODULE_UNVERIFIED' });
    repository.manifests.clear();
    signer.signOld(repository, artifact.digest);
    await verified(signer.publicKey);
    await expect(verified(OTHER.publicKey)).rejects.toMatchObject({ code: 'MODULE_UNVERIFIED' });
  });

  test('without keys in the policy nothing is looked for', async () => {
    await verifyArtifact(repository, artifact, {}, SIGNAL);
    expect(repository.calls).toEqual([]);
  });

  test('a good signature behind bad ones counts', async () => {
    attach(repository, artifact.digest, 'rubbish');
    repository.putManifest({
      subject: { digest: artifact.digest },
      layers: [{ mediaType: 'x', digest: digestOf('missing'), size: 7 }],
    });
    attach(repository, artifact.digest, OTHER.bundle(artifact.digest), SIGNER.bundle(artifact.digest));
    await expect(verified(SIGNER.publicKey)).resolves.toBeUndefined();
  });

  const other = digestOf('other');
  test.each<[string, (digest: string) => unknown, RegExp]>([
    [
      'nothing',
      () => undefined,
      /a signature with the cosign key was looked for among the referrers and at the tag sha256-[0-9a-f]{64}\.sig; found: no signature/,
    ],
    [
      'a bundle of another key',
      (digest) => attach(repository, digest, OTHER.bundle(digest)),
      /found: sha256:[0-9a-f]{12} was not signed with one of the keys/,
    ],
    [
      'a bundle for another digest',
      (digest) => attach(repository, digest, SIGNER.bundle(other)),
      /is a signature of sha256:/,
    ],
    [
      'a bundle with a changed subject',
      (digest) =>
        attach(
          repository,
          digest,
          SIGNER.bundle(other, {
            signed: (payload) => Buffer.from(payload.toString().replace(other.slice(7), digest.slice(7))),
          }),
        ),
      /was not signed with one of the keys/,
    ],
    [
      'a bundle with a changed payload',
      (digest) =>
        attach(
          repository,
          digest,
          SIGNER.bundle(digest, { signed: (payload) => Buffer.concat([payload, Buffer.from(' ')]) }),
        ),
      /was not signed/,
    ],
    [
      'another predicate',
      (digest) =>
        attach(
          repository,
          digest,
          SIGNER.bundle(digest, { predicateType: 'https://slsa.dev/provenance/v1' }),
        ),
      /has the predicate "https:\/\/slsa\.dev/,
    ],
    [
      'another type of payload',
      (digest) => attach(repository, digest, SIGNER.bundle(digest, { payloadType: 'text/plain' })),
      /is a signature of text\/plain/,
    ],
    [
      'a subject that is no list',
      (digest) =>
        attach(
          repository,
          digest,
          SIGNER.bundle(digest, { subject: { digest: { sha256: digest.slice(7) } } }),
        ),
      /is a signature of nothing/,
    ],
    ['no JSON', (digest) => attach(repository, digest, 'rubbish'), /is not a bundle with a DSSE envelope/],
    [
      'JSON of something else',
      (digest) => attach(repository, digest, '{"dsseEnvelope": {"payload": 7}}'),
      /is not a bundle/,
    ],
    [
      'signatures that are none',
      (digest) =>
        attach(
          repository,
          digest,
          JSON.stringify({
            dsseEnvelope: {
              payload: 'e30=',
              payloadType: 'x',
              signatures: [7, { sig: '' }, { sig: '!' }, { sig: 'AAAA' }],
            },
          }),
        ),
      /was not signed/,
    ],
    ['no layers', (digest) => attach(repository, digest), /has no layers/],
    [
      'more than a mebibyte',
      (digest) => attach(repository, digest, Buffer.alloc(1_048_577)),
      /cannot be used: .*more than 1048576 bytes/,
    ],
    [
      'an index',
      (digest) => repository.putManifest({ subject: { mediaType: '', digest, size: 1 }, manifests: [] }),
      /has no layers/,
    ],
    ['an old signature of another key', (digest) => OTHER.signOld(repository, digest), /was not signed/],
    [
      'an old signature of another digest',
      (digest) => SIGNER.signOld(repository, digest, { says: other }),
      /is a signature of sha256:/,
    ],
    [
      'an old signature with a changed payload',
      (digest) =>
        SIGNER.signOld(repository, digest, {
          payload: JSON.stringify({ critical: { image: { 'docker-manifest-digest': digest } } }),
        }),
      /was not signed/,
    ],
    [
      'an old signature without annotation',
      (digest) =>
        repository.putManifest(
          { layers: [repository.put('application/vnd.dev.cosign.simplesigning.v1+json', '{}')] },
          `${digest.replace(':', '-')}.sig`,
        ),
      /has no signature in its annotations/,
    ],
  ])('is refused: %s', async (_title, push, message) => {
    push(artifact.digest);
    await expect(verified(SIGNER.publicKey)).rejects.toMatchObject({
      code: 'MODULE_UNVERIFIED',
      isPermanent: true,
      message: expect.stringMatching(message),
    });
  });

  test('an envelope of DSSE does not count as a payload of the older form', async () => {
    const bundle = JSON.parse(SIGNER.bundle(artifact.digest)) as {
      dsseEnvelope: { payload: string; signatures: [{ sig: string }] };
    };
    const layer = repository.put(
      'application/vnd.dev.cosign.simplesigning.v1+json',
      Buffer.from(bundle.dsseEnvelope.payload, 'base64'),
      {
        'dev.cosignproject.cosign/signature': bundle.dsseEnvelope.signatures[0].sig,
      },
    );
    repository.putManifest({ layers: [layer] }, `${artifact.digest.replace(':', '-')}.sig`);
    await expect(verified(SIGNER.publicKey)).rejects.toThrow(/was not signed/);
  });

  test('no more than 20 candidates are looked at', async () => {
    for (let index = 0; index < 30; index += 1) attach(repository, artifact.digest, `rubbish ${index}`);
    await expect(verified(SIGNER.publicKey)).rejects.toMatchObject({ code: 'MODULE_UNVERIFIED' });
    expect(repository.calls.filter((call) => call.startsWith('blob'))).toHaveLength(20);
  });

  test.each<[string, string, RegExp]>([
    ['nothing', '', /cosign key 1 cannot be used: it holds no PEM block/],
    ['text', 'ssh-ed25519 AAAA', /holds no PEM block/],
    ['rubbish in PEM', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', /it cannot be read/],
    [
      'a private key',
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      /it is a private key/,
    ],
    [
      'a short RSA key',
      generateKeyPairSync('rsa', { modulusLength: 1_024 })
        .publicKey.export({ type: 'spki', format: 'pem' })
        .toString(),
      /it is rsa 1024; accepted are/,
    ],
    [
      'another curve',
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
        .publicKey.export({ type: 'spki', format: 'pem' })
        .toString(),
      /it is ec secp256k1/,
    ],
    [
      'a key to exchange keys',
      generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      /it is x25519/,
    ],
  ])('a key that is none is named: %s', async (_title, pem, message) => {
    await expect(verified(pem)).rejects.toMatchObject({
      code: 'SOURCE_INVALID',
      message: expect.stringMatching(message),
    });
  });

  test('an empty list of keys verifies nothing', async () => {
    await expect(verified()).rejects.toMatchObject({ code: 'SOURCE_INVALID' });
  });

  test('an error of the registry is not taken for a missing signature', async () => {
    repository.referrers = () => Promise.reject(new Error('away'));
    await expect(verified(SIGNER.publicKey)).rejects.toThrow('away');
  });
});

describe('the keyring', () => {
  const pair = generateKeyPairSync('ed25519');
  const keyringOf = (key: typeof pair.publicKey): string => {
    const { type, blob } = sshPublicKey(key);
    return `release ${type} ${blob.toString('base64')}\n`;
  };
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'artifacts-'));
    await writeFile(join(directory, 'Chart.yaml'), 'name: web\n');
    const files = await readContent(directory, {}, SIGNAL);
    const text = manifestText({ name: 'web', serial: 1, files });
    await writeFile(join(directory, 'module.manifest'), text);
    await writeFile(
      join(directory, 'module.manifest.sig'),
      signMessage(Buffer.from(text), pair.privateKey, 'addon-operator-module'),
    );
  });

  async function verifiedContent(keyring: string | undefined, module = 'web'): Promise<void> {
    await verifyContent(directory, { module, keyring, clock: new FakeClock() }, SIGNAL);
  }

  test('accepts content that one of its keys signed, and everything where none is wanted', async () => {
    await expect(verifiedContent(keyringOf(pair.publicKey))).resolves.toBeUndefined();
    await appendFile(join(directory, 'Chart.yaml'), 'x');
    await expect(verifiedContent(undefined)).resolves.toBeUndefined();
  });

  test.each<[string, () => Promise<void>, RegExp]>([
    [
      'a changed file',
      async () => await appendFile(join(directory, 'Chart.yaml'), 'x'),
      /Chart\.yaml was changed/,
    ],
    ['an added file', async () => await writeFile(join(directory, 'hook'), ''), /hook was added/],
    [
      'a changed manifest',
      async () => await appendFile(join(directory, 'module.manifest'), ' '),
      /is not a signature of its module\.manifest/,
    ],
  ])('refuses %s', async (_title, change, message) => {
    await change();
    await expect(verifiedContent(keyringOf(pair.publicKey))).rejects.toMatchObject({
      code: 'MODULE_UNVERIFIED',
      message: expect.stringMatching(message),
    });
  });

  test('refuses another key, another name, and a keyring that is none', async () => {
    await expect(verifiedContent(keyringOf(generateKeyPairSync('ed25519').publicKey))).rejects.toThrow(
      /an SSH signature with a key of the keyring was looked for in it; it was signed with ssh-ed25519 SHA256:\S+, which is not in the keyring of the source/,
    );
    await expect(verifiedContent(keyringOf(pair.publicKey), 'other')).rejects.toThrow(
      /signed for the module "web"/,
    );
    for (const keyring of ['', 'rubbish'])
      await expect(verifiedContent(keyring)).rejects.toMatchObject({ code: 'MODULE_UNVERIFIED' });
  });
});
