import { OperatorError } from '@addon-operator/base/errors';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { HookConfig } from '../../hook-config/hook-config.ts';
import type { DeployReason } from '../../hooks/binding-context.ts';
import { DEPLOY_BINDINGS, type DeployStep } from '../../tools/hook-test/hook-test.ts';

/**
 * Why a deploy hook is run, with the facts that a test names and plain ones for the others.
 *
 * @throws OperatorError CONFIG_INVALID if the hook has no such binding
 */
export function deployReason(step: DeployStep, { lifecycle }: Pick<HookConfig, 'lifecycle'>): DeployReason {
  const { binding, module, revision = 1, attempt = 1 } = step;
  if (lifecycle[binding] === undefined) {
    const names = DEPLOY_BINDINGS.filter((name) => lifecycle[name] !== undefined);
    throw new OperatorError(
      'CONFIG_INVALID',
      `deploy: the hook has no binding ${binding}${didYouMean(binding, names)}; it has ${names.join(', ') || 'none for deployments'}`,
    );
  }
  const { previousRevision = binding === 'beforeUninstall' ? revision : revision - 1 } = step;
  const facts = { module, release: { previousRevision }, attempt };
  switch (binding) {
    case 'beforeInstall':
    case 'afterInstall':
    case 'beforeLaunch':
    case 'beforeUninstall':
      return { type: 'deploy', binding, facts };
    case 'afterLaunch':
      return { type: 'deploy', binding, facts: { ...facts, release: { previousRevision, revision } } };
    case 'afterAuthFail': {
      const { reason = 'it is not signed', policy = 'ssh-signature', place = 'manifest' } = step;
      return { type: 'deploy', binding, facts: { module, authorization: { place, policy, reason } } };
    }
  }
}
