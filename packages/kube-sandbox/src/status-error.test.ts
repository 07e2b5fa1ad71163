import { expect, test } from 'vitest';
import {
  alreadyExists,
  conflict,
  forbidden,
  forbiddenField,
  invalid,
  notFound,
  notImplemented,
} from './status-error.ts';

const DEPLOYMENTS = { group: 'apps', plural: 'deployments' };
const CONFIG_MAPS = { group: '', plural: 'configmaps' };

test('messages name a resource with its group, the core group with none', () => {
  expect(notFound(CONFIG_MAPS, 'a').message).toBe('configmaps "a" not found');
  expect(alreadyExists(DEPLOYMENTS, 'a').message).toBe('deployments.apps "a" already exists');
  expect(conflict(DEPLOYMENTS, 'a', 'why').message).toBe(
    'Operation cannot be fulfilled on deployments.apps "a": why',
  );
  expect(forbidden(CONFIG_MAPS, 'a', 'why').message).toBe('configmaps "a" is forbidden: why');
});

test('details hold what clients look at, and no empty fields', () => {
  expect(notFound(CONFIG_MAPS, 'a').status.details).toEqual({ name: 'a', kind: 'configmaps' });
  expect(notFound(DEPLOYMENTS, '').status.details).toEqual({ group: 'apps', kind: 'deployments' });
});

test('one cause is shown alone, several in brackets', () => {
  const subject = { group: 'apps', kind: 'Deployment', name: 'a' };
  const causes = [forbiddenField('spec.x', 'no'), forbiddenField('spec.y', 'neither')];
  expect(invalid(subject, causes.slice(0, 1)).message).toBe(
    'Deployment.apps "a" is invalid: spec.x: Forbidden: no',
  );
  expect(invalid(subject, causes).message).toBe(
    'Deployment.apps "a" is invalid: [spec.x: Forbidden: no, spec.y: Forbidden: neither]',
  );
});

test('a refusal is an error with the status that is sent', () => {
  const error = notImplemented('pods/log');
  expect(error).toBeInstanceOf(Error);
  expect(error.status).toMatchObject({
    kind: 'Status',
    status: 'Failure',
    code: 501,
    reason: 'NotImplemented',
  });
});
