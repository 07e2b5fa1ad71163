import { ownAnd, type Setting, setting } from './setting.ts';
import { listType, portType, textType, webhookUrlType } from './setting-type.ts';

const FILES = listType(',', 'list');

/** Settings of the servers for admission and conversion webhooks. */
export const WEBHOOK_SETTINGS = {
  webhookUrl: setting(
    'webhook-url',
    'ADDON_OPERATOR_WEBHOOK_URL',
    webhookUrlType,
    '',
    'Outside of the cluster: https URL under which API servers reach this host; without a port that of the server is added. Empty means the Services.',
  ),
  webhookSecretName: setting(
    'webhook-certs-secret',
    'ADDON_OPERATOR_WEBHOOK_CERTS_SECRET',
    textType,
    'addon-operator-webhook-certs',
    'Secret with our own authority and certificate, made where no certificate files are given.',
  ),
  validatingConfigurationName: setting(
    'validating-webhook-configuration-name',
    ownAnd('VALIDATING_WEBHOOK_CONFIGURATION_NAME'),
    textType,
    'shell-operator-hooks',
    'Beginning of the name of the webhook configurations; "-hooks" is added.',
  ),
  validatingServiceName: setting(
    'validating-webhook-service-name',
    ownAnd('VALIDATING_WEBHOOK_SERVICE_NAME'),
    textType,
    'shell-operator-validating-svc',
    'Service that leads to the admission webhooks.',
  ),
  validatingServerCert: setting(
    'validating-webhook-server-cert',
    ownAnd('VALIDATING_WEBHOOK_SERVER_CERT'),
    textType,
    '/validating-certs/tls.crt',
    'Certificate of the admission webhooks.',
  ),
  validatingServerKey: setting(
    'validating-webhook-server-key',
    ownAnd('VALIDATING_WEBHOOK_SERVER_KEY'),
    textType,
    '/validating-certs/tls.key',
    'Key of that certificate.',
  ),
  validatingCa: setting(
    'validating-webhook-ca',
    ownAnd('VALIDATING_WEBHOOK_CA'),
    textType,
    '/validating-certs/ca.crt',
    'Authority of that certificate.',
  ),
  validatingClientCas: setting(
    'validating-webhook-client-ca',
    ownAnd('VALIDATING_WEBHOOK_CLIENT_CA'),
    FILES,
    '',
    'Files with authorities of clients; where given, clients of the admission webhooks must show a certificate.',
  ),
  validatingFailurePolicy: setting(
    'validating-webhook-failure-policy',
    ownAnd('VALIDATING_WEBHOOK_FAILURE_POLICY'),
    textType,
    'Fail',
    'Accepted and without effect: the bindings of hooks say it.',
  ),
  validatingListenAddress: setting(
    'validating-webhook-listen-address',
    ownAnd('VALIDATING_WEBHOOK_LISTEN_ADDRESS'),
    textType,
    '0.0.0.0',
    'Address of the admission webhooks.',
  ),
  validatingListenPort: setting(
    'validating-webhook-listen-port',
    ownAnd('VALIDATING_WEBHOOK_LISTEN_PORT'),
    portType,
    '9680',
    'Port of the admission webhooks.',
  ),
  conversionServiceName: setting(
    'conversion-webhook-service-name',
    ownAnd('CONVERSION_WEBHOOK_SERVICE_NAME'),
    textType,
    'shell-operator-conversion-svc',
    'Service that leads to the conversion webhooks.',
  ),
  conversionServerCert: setting(
    'conversion-webhook-server-cert',
    ownAnd('CONVERSION_WEBHOOK_SERVER_CERT'),
    textType,
    '/conversion-certs/tls.crt',
    'Certificate of the conversion webhooks.',
  ),
  conversionServerKey: setting(
    'conversion-webhook-server-key',
    ownAnd('CONVERSION_WEBHOOK_SERVER_KEY'),
    textType,
    '/conversion-certs/tls.key',
    'Key of that certificate.',
  ),
  conversionCa: setting(
    'conversion-webhook-ca',
    ownAnd('CONVERSION_WEBHOOK_CA'),
    textType,
    '/conversion-certs/ca.crt',
    'Authority of that certificate.',
  ),
  conversionClientCas: setting(
    'conversion-webhook-client-ca',
    ownAnd('CONVERSION_WEBHOOK_CLIENT_CA'),
    FILES,
    '',
    'Files with authorities of clients; where given, clients of the conversion webhooks must show a certificate.',
  ),
  conversionListenAddress: setting(
    'conversion-webhook-listen-address',
    ownAnd('CONVERSION_WEBHOOK_LISTEN_ADDRESS'),
    textType,
    '0.0.0.0',
    'Address of the conversion webhooks.',
  ),
  conversionListenPort: setting(
    'conversion-webhook-listen-port',
    ownAnd('CONVERSION_WEBHOOK_LISTEN_PORT'),
    portType,
    '9681',
    'Port of the conversion webhooks.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;
