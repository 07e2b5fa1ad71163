import { expect, test } from 'vitest';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import type { ModuleExtensions } from '../model/services.ts';
import { releaseFinalizer } from '../requests/release-finalizer.ts';
import { finishDeletion } from './finish-deletion.ts';

const never = new AbortController().signal;

/** The requests to servers, in order; they refuse as long as they are not skipped. */
class Finalizers implements NonNullable<ModuleExtensions['finalizers']> {
  readonly calls: string[] = [];
  readonly held = new Set<string>();
  readonly #skipped = new Set<string>();

  async hold({ name }: { readonly name: string }): Promise<void> {
    this.held.add(name);
  }

  async finalize({ name }: { readonly name: string }): Promise<void> {
    await this.finalizeAbandoned(name);
  }

  async finalizeAbandoned(name: string): Promise<void> {
    this.calls.push(`finalize ${name}`);
    if (!this.#skipped.has(name)) throw new Error('the server is gone');
  }

  async release({ name }: { readonly name: string }): Promise<void> {
    await this.releaseAbandoned(name);
  }

  async releaseAbandoned(name: string): Promise<void> {
    this.calls.push(`release ${name}`);
    this.held.delete(name);
  }

  async isHeld(name: string): Promise<boolean> {
    return this.held.has(name);
  }

  skip(name: string): void {
    this.#skipped.add(name);
  }
}

async function disableWeb(lab: OperatorLab): Promise<void> {
  lab.enabled.delete('web');
  lab.operator.router.queueConverge('ReloadAllModules', 'test');
  await lab.settle();
}

test('a module stays until its server agrees, or is left out on request, and that at once', async () => {
  const finalizers = new Finalizers();
  await using lab = await operatorLab(['web'], {}, { finalizers });
  await lab.converge();
  expect(await releaseFinalizer(lab.operator, 'web', never)).toBe('enabled');
  await disableWeb(lab);
  expect(finalizers.calls).toEqual(['finalize web']);
  expect(lab.releases.has('web')).toBe(true);
  expect(await releaseFinalizer(lab.operator, 'web', never)).toBe('deleting');
  await lab.settle();
  expect(finalizers.calls).toEqual(['finalize web', 'finalize web', 'release web']);
  expect(lab.releases.has('web')).toBe(false);
  expect(await releaseFinalizer(lab.operator, 'web', never)).toBe('not-held');
});

test('the object of a disabled module without a deletion task is released on request', async () => {
  const finalizers = new Finalizers();
  await using lab = await operatorLab(['web'], {}, { finalizers });
  lab.enabled.clear();
  await lab.converge();
  finalizers.held.add('web');
  expect(await releaseFinalizer(lab.operator, 'web', never)).toBe('released');
  expect(finalizers.calls).toEqual(['release web']);
});

test('finishDeletion() waits for the first converge, and changes no object without our finalizer', async () => {
  const finalizers = new Finalizers();
  await using lab = await operatorLab(['web'], {}, { finalizers });
  expect(await finishDeletion(lab.operator, 'web', never)).toBe('too early');
  await lab.converge();
  expect(await finishDeletion(lab.operator, 'gone', never)).toBe('done');
  expect(await finishDeletion(lab.operator, 'web', never)).toBe('done');
  await lab.settle();
  expect(finalizers.calls).toEqual([]);
});

test.each([
  ['a disabled module', 'web'],
  ['a module without a directory', 'gone'],
])('finishDeletion() has %s deleted, once', async (_case, name) => {
  const finalizers = new Finalizers();
  finalizers.skip(name);
  await using lab = await operatorLab(['web'], {}, { finalizers });
  lab.enabled.clear();
  await lab.converge();
  finalizers.held.add(name);
  await Promise.all([1, 2].map(() => finishDeletion(lab.operator, name, never)));
  await lab.settle();
  expect(finalizers.calls).toEqual([`finalize ${name}`, `release ${name}`]);
});
