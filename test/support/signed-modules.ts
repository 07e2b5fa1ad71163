import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sshPublicKey } from '@addon-operator/crypto/ssh-keys';
import type { World } from './world.ts';
import { runInWorld } from './world-command.ts';

/** A key pair that modules of a world are signed with. */
export class Signer {
  readonly #world: World;
  readonly #key: KeyObject;

  private constructor(world: World, key: KeyObject) {
    this.#world = world;
    this.#key = key;
  }

  /** Makes a key, and the keyring `keys` of the world with it. */
  static async create(world: World): Promise<Signer> {
    const { privateKey } = generateKeyPairSync('ed25519');
    const signer = new Signer(world, privateKey);
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
    await writeFile(join(world.directory, 'key.pem'), pem, { mode: 0o600 });
    await signer.trust();
    return signer;
  }

  /** The keyring holds our key, with these options of `allowed_signers`, and no other. */
  async trust(options = ''): Promise<void> {
    const { type, blob } = sshPublicKey(this.#key);
    await writeFile(
      join(this.#world.directory, 'keys'),
      `platform ${options} ${type} ${blob.toString('base64')}\n`,
    );
  }

  async sign(...modules: readonly string[]): Promise<void> {
    const { exitCode, stderr } = await runInWorld(
      this.#world,
      'module',
      'sign',
      '--key',
      'key.pem',
      ...modules,
    );
    if (exitCode !== 0) throw new Error(stderr);
  }
}

/** Variables of a daemon that runs signed modules only. */
export function keyringEnv(directory: string): Readonly<Record<string, string>> {
  return { AUTH_POLICY: 'keyring', AUTH_KEYRING: join(directory, 'keys') };
}
