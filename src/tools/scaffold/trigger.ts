import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { parseCrontab } from '@addon-operator/crontab';
import { didYouMean } from '@addon-operator/json/similar-word';
import { GLOBAL_LIFECYCLE_BINDINGS, MODULE_LIFECYCLE_BINDINGS } from '../../hook-config/hook-config.ts';

/** When a new hook runs. */
export type Trigger =
  | { readonly type: 'lifecycle'; readonly binding: string }
  | { readonly type: 'schedule'; readonly crontab: string }
  | { readonly type: 'kubernetes'; readonly apiVersion: string; readonly kind: string }
  | {
      readonly type: 'validating';
      readonly group: string;
      readonly version: string;
      readonly resource: string;
    };

const API_VERSION = /^(?:[a-z0-9.-]+\/)?v[a-z0-9]+$/;
const KIND = /^[A-Z][A-Za-z0-9]*$/;
const RESOURCE = /^[a-z][a-z0-9]*$/;

/**
 * Reads what `--on` says: a lifecycle binding, `schedule:CRONTAB`, `kubernetes:APIVERSION/KIND` or
 * `validating:APIVERSION/RESOURCE`.
 *
 * @throws OperatorError CONFIG_INVALID with the forms there are
 */
export function parseTrigger(text: string, isOfModule: boolean): Trigger {
  const lifecycle = isOfModule ? MODULE_LIFECYCLE_BINDINGS : GLOBAL_LIFECYCLE_BINDINGS;
  const binding = lifecycle.find((each) => each === text);
  if (binding !== undefined) return { type: 'lifecycle', binding };
  const [, type = '', rest = ''] = /^([a-z]+):(.+)$/.exec(text) ?? [];
  switch (type) {
    case 'schedule':
      try {
        parseCrontab(rest, 'UTC');
        return { type, crontab: rest };
      } catch (error) {
        throw invalid(text, messageOf(error));
      }
    case 'kubernetes': {
      const { apiVersion, name } = splitKind(rest);
      if (API_VERSION.test(apiVersion) && KIND.test(name)) return { type, apiVersion, kind: name };
      throw invalid(text, 'write kubernetes:APIVERSION/KIND, such as kubernetes:v1/Service');
    }
    case 'validating': {
      const { apiVersion, name } = splitKind(rest);
      if (!API_VERSION.test(apiVersion) || !RESOURCE.test(name))
        throw invalid(text, 'write validating:APIVERSION/RESOURCE, such as validating:apps/v1/deployments');
      const [version = '', group = ''] = apiVersion.split('/').reverse();
      return { type, group, version, resource: name };
    }
    default:
      throw invalid(
        text,
        `write one of ${lifecycle.join(', ')}${didYouMean(text, lifecycle)}, schedule:CRONTAB, kubernetes:APIVERSION/KIND or validating:APIVERSION/RESOURCE`,
      );
  }
}

function splitKind(text: string): { readonly apiVersion: string; readonly name: string } {
  const end = text.lastIndexOf('/');
  return { apiVersion: text.slice(0, Math.max(end, 0)), name: text.slice(end + 1) };
}

function invalid(text: string, advice: string): OperatorError {
  return new OperatorError('CONFIG_INVALID', `--on ${text}: ${advice}`);
}

/** The configuration of a hook with one binding, as data. */
export function configOf(trigger: Trigger, name: string): Readonly<Record<string, unknown>> {
  switch (trigger.type) {
    case 'lifecycle':
      return { [trigger.binding]: 10 };
    case 'schedule':
      return { schedule: [{ name: 'timer', crontab: trigger.crontab }] };
    case 'kubernetes': {
      const { apiVersion, kind } = trigger;
      return {
        kubernetes: [
          {
            name: 'objects',
            apiVersion,
            kind,
            // To watch all Secrets is a lot to be allowed.
            ...(kind === 'Secret' && { namespace: { nameSelector: { matchNames: ['default'] } } }),
            jqFilter: '{name: .metadata.name, namespace: .metadata.namespace}',
            keepFullObjectsInMemory: false,
          },
        ],
      };
    }
    case 'validating': {
      const { group, version, resource } = trigger;
      const rule = {
        apiGroups: [group],
        apiVersions: [version],
        operations: ['CREATE', 'UPDATE'],
        resources: [resource],
      };
      return { kubernetesValidating: [{ name: `${webhookName(name)}.example.com`, rules: [rule] }] };
    }
  }
}

function webhookName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
}
