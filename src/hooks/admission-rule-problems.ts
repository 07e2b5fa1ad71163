import type { AdmissionRule } from './admission-rule.ts';

/** Why an API server would refuse a rule of a webhook; each problem begins with the path. */
export function* admissionRuleProblems(rule: AdmissionRule, path: string): Iterable<string> {
  for (const field of ['operations', 'apiGroups', 'apiVersions'] as const) {
    const values = rule[field];
    if (values.length > 1 && values.includes('*'))
      yield `${path}.${field}: Invalid value: ${JSON.stringify(values)}: if '*' is present, must not specify other values`;
  }
  for (const field of ['apiVersions', 'resources'] as const) {
    const empty = rule[field].indexOf('');
    if (empty >= 0) yield `${path}.${field}[${empty}]: Required value`;
  }
  yield* overlaps(rule.resources, `${path}.resources`);
}

function* overlaps(resources: readonly string[], path: string): Iterable<string> {
  const withAllSubresources = new Set<string>();
  const ofAllResources = new Set<string>();
  for (const [index, text] of resources.entries()) {
    const [resource = '', subresource] = text.split('/', 2);
    if (subresource === undefined) continue;
    if (withAllSubresources.has(resource))
      yield `${path}[${index}]: Invalid value: "${text}": if '${resource}/*' is present, must not specify ${text}`;
    if (ofAllResources.has(subresource))
      yield `${path}[${index}]: Invalid value: "${text}": if '*/${subresource}' is present, must not specify ${text}`;
    if (subresource === '*') withAllSubresources.add(resource);
    if (resource === '*') ofAllResources.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    yield `${path}: Invalid value: if '*/*' is present, must not specify other resources`;
  if (resources.includes('*') && resources.some((text) => text !== '*' && !text.includes('/')))
    yield `${path}: Invalid value: if '*' is present, must not specify other resources without subresources`;
}
