import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject } from '@addon-operator/json';
import { helperCredential, type RunPlugin } from './credential-plugins.ts';
import {
  type Credential,
  type CredentialSource,
  type CredentialsByPattern,
  credentialFor,
} from './registry-credentials.ts';
import { isDockerHub } from './repository-url.ts';

const DOCKER_HUB_KEY = 'https://index.docker.io/v1/';

/**
 * The accounts in a config.json of docker, which a Secret of the type `kubernetes.io/dockerconfigjson` holds too.
 *
 * @param from where it is, for messages
 * @param run runs credential helpers; without it they are ignored, as they are in a Secret
 * @throws OperatorError SOURCE_INVALID, whose message holds nothing of the content
 */
export function readDockerConfig(content: string, from: string, run?: RunPlugin): CredentialSource {
  const config = fieldsOf(parse(content, from));
  const auths: CredentialsByPattern = Object.fromEntries(
    Object.entries(fieldsOf(config['auths'])).flatMap(([pattern, entry]) => {
      const credential = credentialOf(entry, `${from}, entry ${JSON.stringify(pattern)}`);
      return credential === undefined ? [] : [[pattern, credential]];
    }),
  );
  const helpers = fieldsOf(config['credHelpers']);
  const store = config['credsStore'];
  return async (image, signal) => {
    const host = image.split('/')[0] ?? '';
    const helper = helpers[host] ?? store;
    if (run !== undefined && typeof helper === 'string' && helper !== '') {
      const server = isDockerHub(host) ? DOCKER_HUB_KEY : host;
      const found = await helperCredential(helper, server, run, signal);
      if (found !== undefined) return found;
    }
    return credentialFor(image, auths);
  };
}

function parse(content: string, from: string): unknown {
  try {
    const config: unknown = JSON.parse(content);
    if (isObject(config)) return config;
  } catch {
    // The message of a SyntaxError quotes the content.
  }
  throw new OperatorError(
    'SOURCE_INVALID',
    `${from} is not a config.json of docker: it is not a JSON object`,
  );
}

function credentialOf(entry: unknown, from: string): Credential | undefined {
  const { auth, username, password, identitytoken } = fieldsOf(entry);
  if (isFilled(identitytoken)) return { identityToken: identitytoken };
  if (isFilled(auth)) {
    const decoded = Buffer.from(auth, 'base64').toString();
    const colon = decoded.indexOf(':');
    if (colon === -1)
      throw new OperatorError('SOURCE_INVALID', `${from}: auth is not the base64 of USER:PASSWORD`);
    return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1).replace(/\0+$/, '') };
  }
  return isFilled(username) && isFilled(password) ? { username, password } : undefined;
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
