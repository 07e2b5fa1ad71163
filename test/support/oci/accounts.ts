/** Accounts of registries in tests. Each may use what begins with its own name, and `shared/`. */
export const ACCOUNTS = {
  alice: {
    password: 'alice-password',
    bcrypt: '$2a$04$gqw5lwqO.gq9AMe0RRBEmej558QBNedJbTSOhGm1LNuGdsms1LFO2',
  },
  bob: {
    password: 'bob-password',
    bcrypt: '$2a$04$kOVQoOnZ0HBAl55.8u08DePuhTHHbEsqu6tBuEdU3ctreIth.8ahq',
  },
} as const;

export type AccountName = keyof typeof ACCOUNTS;

/** `name:password` of an account, as Basic authentication and `auths` of docker's config.json have it. */
export function basicOf(name: AccountName): string {
  return Buffer.from(`${name}:${ACCOUNTS[name].password}`).toString('base64');
}

/** A docker config.json, the content of a Secret of the type `kubernetes.io/dockerconfigjson`. @param key host or host/path */
export function dockerConfigFor(key: string, name: AccountName): string {
  return JSON.stringify({ auths: { [key]: { auth: basicOf(name) } } });
}
