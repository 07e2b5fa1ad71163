import { missingPackages } from '../system-programs.ts';

/** Why the image cannot be built with buildah on this machine, or undefined. */
export async function reasonAgainstImage(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can build it';
  const packages = await missingPackages({ buildah: 'buildah', mmdebstrap: 'mmdebstrap' }, env);
  return packages.length > 0 ? `apt-get install --no-install-recommends ${packages.join(' ')}` : undefined;
}
