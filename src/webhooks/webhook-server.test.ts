import { expect, test } from 'vitest';
import { readSettings } from '../settings/read-settings.ts';
import { webhookTargetOf } from './webhook-server.ts';

const settingsWith = (flags: Readonly<Record<string, string>>) =>
  readSettings({ flags: { namespace: 'ns', ...flags }, env: {} });

test('inside of the cluster webhooks are reached through their Services', () => {
  const settings = settingsWith({ 'conversion-webhook-service-name': 'conv' });
  expect(webhookTargetOf(settings, 'validating')).toEqual({
    type: 'service',
    namespace: 'ns',
    name: 'shell-operator-validating-svc',
  });
  expect(webhookTargetOf(settings, 'conversion')).toEqual({ type: 'service', namespace: 'ns', name: 'conv' });
});

test.each([
  ['https://host', 'https://host:9680', 'https://host:9681'],
  ['https://[::1]/', 'https://[::1]:9680', 'https://[::1]:9681'],
  ['https://host:443', 'https://host:443', 'https://host:443'],
])('under %s they are reached at %s and %s', (url, validating, conversion) => {
  const settings = settingsWith({ 'webhook-url': url });
  expect(webhookTargetOf(settings, 'validating')).toEqual({ type: 'url', url: validating });
  expect(webhookTargetOf(settings, 'conversion')).toEqual({ type: 'url', url: conversion });
});

test.each(['http://host', 'https://host/path', 'host:1', 'https://user@host'])('%s is refused', (url) => {
  expect(() => settingsWith({ 'webhook-url': url })).toThrow('an https URL without a path');
});
