import { resolve } from 'node:path';
import { hasCode, OperatorError } from '@addon-operator/base/errors';
import type { AuthorizationPolicy } from '../../authorization/authorization-policy.ts';
import { digestPolicy } from '../../authorization/digest-policy.ts';
import { keyringPolicy } from '../../authorization/keyring.ts';
import { readCandidate } from '../../authorization/read-candidate.ts';
import { readSetting } from '../../settings/read-settings.ts';
import type { SettingName } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { printData } from '../output/print-data.ts';
import { findTargets, type Target } from './module-sign-targets.ts';

export interface VerifyOptions {
  /** Values given on the command line, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
  readonly modules: readonly string[];
  readonly format: 'text' | 'json';
}

interface Verdict {
  readonly module: string;
  readonly authorized: boolean;
  readonly digest?: string;
  readonly reason?: string;
}

/** Says of each module whether a daemon would let it run; returns the exit code, 1 when it would not for any of them. */
export async function verifyCommand(options: VerifyOptions, host: CliHost): Promise<number> {
  const policy = policyOf(options, host);
  const targets = await findTargets(options.modules, options.flags, host);
  const verdicts = await Promise.all(targets.map((target) => verdictOn(target, policy, host)));
  printData(
    host,
    options.format === 'json' ? `${JSON.stringify(verdicts)}\n` : harmless(verdicts.map(lineOf).join('')),
  );
  return verdicts.every(({ authorized }) => authorized) ? 0 : 1;
}

function lineOf({ module, digest, reason }: Verdict): string {
  return reason === undefined
    ? `${module}: authorized, ${digest}\n`
    : `${module}: not authorized: ${reason}\n`;
}

async function verdictOn(
  { name, directory }: Target,
  policy: AuthorizationPolicy,
  host: CliHost,
): Promise<Verdict> {
  const signal = host.stopSignal();
  try {
    const candidate = await readCandidate(name, directory, {}, signal);
    await policy.check(candidate, signal);
    const { digest } = await candidate.content();
    return { module: name, authorized: true, digest };
  } catch (error) {
    if (!hasCode(error, 'MODULE_UNAUTHORIZED')) throw error;
    return { module: name, authorized: false, reason: error.message };
  }
}

/** As that of the daemon, but serial numbers seen before are in the cluster only. */
function policyOf({ flags }: VerifyOptions, host: CliHost): AuthorizationPolicy {
  const sources = { env: host.env, flags };
  const pathOf = (name: SettingName & ('authKeyring' | 'authLockFile'), flag: string): string => {
    const path = readSetting(name, sources);
    if (path === '')
      throw new OperatorError('CONFIG_INVALID', `set ${flag}: the modules are compared with it`);
    return resolve(host.cwd, path);
  };
  switch (readSetting('authPolicy', sources)) {
    case 'none':
      throw new OperatorError(
        'CONFIG_INVALID',
        'without a policy every module may run: set --auth-policy to digest or keyring',
      );
    case 'digest':
      return digestPolicy(pathOf('authLockFile', '--auth-lock-file'));
    case 'keyring':
      return keyringPolicy({
        keyring: pathOf('authKeyring', '--auth-keyring'),
        clock: host.clock,
        serials: undefined,
      });
  }
}
