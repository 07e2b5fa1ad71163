import { isDockerHub } from './repository-url.ts';

/** An account of a registry. Never part of a message. */
export type Credential =
  | { readonly username: string; readonly password: string }
  /** A refresh token, for the token server of the registry (`identitytoken` of docker's config). */
  | { readonly identityToken: string };

/**
 * Finds the account for a repository.
 *
 * @param image host and path, such as `registry.example.com:5000/platform/web`
 * @returns undefined for access without an account
 */
export type CredentialSource = (image: string, signal: AbortSignal) => Promise<Credential | undefined>;

/** Credentials by pattern: host or host/path, in which `*` stands for anything but `.` `/` and `:`. */
export type CredentialsByPattern = Readonly<Record<string, Credential>>;

/** The credential with the longest pattern that is the host of the image, or that and the begin of its path. */
export function credentialFor(image: string, byPattern: CredentialsByPattern): Credential | undefined {
  const [match] = Object.entries(byPattern)
    .map(([pattern, credential]) => ({ pattern: normalPattern(pattern), credential }))
    .filter(({ pattern }) => matches(image, pattern))
    .toSorted((a, b) => weightOf(b.pattern) - weightOf(a.pattern));
  return match?.credential;
}

/** Keys of docker's config may be URLs, `https://index.docker.io/v1/` for one. */
function normalPattern(pattern: string): string {
  const plain = pattern.replace(/^https?:\/\//, '').replace(/\/(?:v[12]\/?)?$/, '');
  const [host = '', ...path] = plain.split('/');
  return [isDockerHub(host) ? 'docker.io' : host.toLowerCase(), ...path].join('/');
}

function matches(image: string, pattern: string): boolean {
  const [parts, wanted] = [normalPattern(image).split('/'), pattern.split('/')];
  return wanted.length <= parts.length && wanted.every((part, index) => isLike(parts[index] ?? '', part));
}

function isLike(text: string, glob: string): boolean {
  if (!glob.includes('*')) return text === glob;
  const pattern = glob.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.join('[^.:/]*')}$`).test(text);
}

/** The number of parts decides; of the same number the one that names more. */
function weightOf(pattern: string): number {
  const PART_WEIGHT = 1_000;
  return pattern.split('/').length * PART_WEIGHT + pattern.replaceAll('*', '').length;
}
