import { object, type Schema, text } from '../config-schema-parts.ts';
import type { HookScope } from '../hook-config.ts';
import { hookConfigSchema } from '../hook-config-schema.ts';

const SECRET_KEY = object(
  'A string in a Secret.',
  {
    name: { ...text('Name of the Secret.'), minLength: 1 },
    key: { ...text('Key of its data.'), minLength: 1 },
    namespace: {
      ...text('Namespace of the Secret; default: the namespace of the operator.'),
      minLength: 1,
    },
  },
  ['name', 'key'],
);

const TLS_SECRET = object(
  'A Secret of the type kubernetes.io/tls.',
  {
    name: { ...text('Name of the Secret.'), minLength: 1 },
    namespace: {
      ...text('Namespace of the Secret; default: the namespace of the operator.'),
      minLength: 1,
    },
  },
  ['name'],
);

/** A mapping with exactly one of the properties. */
function oneOf(description: string, properties: Readonly<Record<string, Schema>>): Schema {
  return { ...object(description, properties), minProperties: 1, maxProperties: 1 };
}

/** What an HTTP hook has besides the configuration of every hook. */
export const ENDPOINT_PROPERTIES: Readonly<Record<string, Schema>> = {
  address: text('URL the contexts are sent to by POST, http or https.'),
  timeout: text('Time limit of one run, such as 10s; in place of settings.timeout.'),
  tls: {
    ...object('How the server and the operator authenticate; for https.', {
      ca: oneOf(
        'The only certificate authorities, in PEM, that the certificate of the server is verified with.',
        {
          file: { ...text('Path of a file; relative to the hook.'), minLength: 1 },
          secretKeyRef: SECRET_KEY,
        },
      ),
      clientCertificate: object('Certificate and key of the operator.', { secretRef: TLS_SECRET }, [
        'secretRef',
      ]),
    }),
    minProperties: 1,
  },
  auth: object(
    'Credentials of the operator.',
    {
      bearerToken: object('Token of the Authorization header.', { secretKeyRef: SECRET_KEY }, [
        'secretKeyRef',
      ]),
    },
    ['bearerToken'],
  ),
};

/** JSON schema of the part of a `.http.yaml` file that other hooks do not have. */
export const ENDPOINT_SCHEMA: Schema = object('Location of an HTTP hook.', ENDPOINT_PROPERTIES, ['address']);

/** JSON schema of a whole `.http.yaml` file of global or module hooks, for editors: draft 7. */
export function httpHookSchema(scope: HookScope): Schema {
  const config = hookConfigSchema(scope);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `A ${scope} HTTP hook, v1`,
    ...config,
    description: `A ${scope} hook that runs on a server: its address, and when the hook runs.`,
    properties: { ...ENDPOINT_PROPERTIES, ...(config['properties'] as Readonly<Record<string, Schema>>) },
    required: ['address'],
  };
}
