import { fileURLToPath } from 'node:url';
import { OperatorError } from '@addon-operator/base/errors';
import { isDigest } from './digest.ts';

/** Where a repository is. */
export type RepositoryLocation =
  | {
      readonly type: 'registry';
      /** As it is written, which credentials are looked up with: `docker.io`, `registry.example.com:5000`. */
      readonly host: string;
      readonly name: string;
    }
  | { readonly type: 'layout'; readonly directory: string };

const COMPONENT = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const HOST = /^(?:[a-z0-9][a-z0-9.-]*|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
const TAG = /^\w[\w.-]{0,127}$/;
const MAX_NAME_LENGTH = 255;
const DOCKER_HUB = ['docker.io', 'index.docker.io', 'registry-1.docker.io'];

export function isTag(text: string): boolean {
  return TAG.test(text);
}

/** @throws OperatorError SOURCE_INVALID for what is neither a tag nor a digest */
export function requireReference(text: string): void {
  if (!isTag(text) && !isDigest(text))
    throw invalid(JSON.stringify(text.slice(0, 100)), 'it is neither a tag nor a digest');
}

/** @throws OperatorError SOURCE_INVALID */
export function parseRepositoryUrl(url: string): RepositoryLocation {
  if (url.startsWith('oci-layout:///')) return { type: 'layout', directory: directoryOf(url) };
  const [, host = '', name = ''] = /^oci:\/\/([^/]*)\/?(.*?)\/?$/.exec(url) ?? [];
  if (host.includes('@'))
    throw invalid(
      'a URL of a registry',
      'credentials belong into a Secret or into the docker config, not into the URL',
    );
  if (host === '') throw invalid(url, 'it begins with oci://HOST/ or oci-layout:///');
  if (!HOST.test(host)) throw invalid(url, `${host} is no host, or host and port`);
  if (name.length > MAX_NAME_LENGTH || !name.split('/').every((component) => COMPONENT.test(component))) {
    throw invalid(
      url,
      'the path of a repository has lower-case letters, digits and . _ - between them, without tag',
    );
  }
  const isShort = isDockerHub(host) && !name.includes('/');
  return { type: 'registry', host: host.toLowerCase(), name: isShort ? `library/${name}` : name };
}

/** Docker Hub has more than one name, and its credentials hold for each of them. */
export function isDockerHub(host: string): boolean {
  return DOCKER_HUB.includes(host);
}

function directoryOf(url: string): string {
  try {
    return fileURLToPath(url.replace('oci-layout:', 'file:'));
  } catch (cause) {
    throw invalid(url, 'it is not the path of a directory', cause);
  }
}

function invalid(url: string, problem: string, cause?: unknown): OperatorError {
  return new OperatorError('SOURCE_INVALID', `${url}: ${problem}`, { cause, isPermanent: true });
}
