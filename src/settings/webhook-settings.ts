/**
 * Settings of the webhook servers for admission and conversion, and of the admission server. Names and defaults are those
 * of the original, so that its Services, Secrets and charts keep working. The two groups mirror each other.
 */

import { ownAnd, type Setting, type SettingsOf, setting } from './setting.ts';
import { booleanType, integerType, listType, portType, textType, webhookUrlType } from './setting-type.ts';

/** Paths separated by commas. */
const FILES = listType(',', 'list');

/** Settings of the admission server, which serves nothing. */
export const ADMISSION_SERVER_SETTINGS = {
  isAdmissionServerEnabled: setting(
    'admission-server-enabled',
    'ADDON_OPERATOR_ADMISSION_SERVER_ENABLED',
    booleanType,
    'false',
    'Start the HTTPS server for admission requests.',
  ),
  admissionServerPort: setting(
    'admission-server-listen-port',
    'ADDON_OPERATOR_ADMISSION_SERVER_LISTEN_PORT',
    portType,
    '9651',
    'Port of the admission server.',
  ),
  admissionServerCertsDir: setting(
    'admission-server-certs-dir',
    'ADDON_OPERATOR_ADMISSION_SERVER_CERTS_DIR',
    textType,
    '',
    'Directory with tls.crt and tls.key of the admission server.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type AdmissionServerSettings = SettingsOf<typeof ADMISSION_SERVER_SETTINGS>;

/** Settings of the servers for admission and conversion webhooks. */
export const WEBHOOK_SETTINGS = {
  webhookUrl: setting(
    'webhook-url',
    'ADDON_OPERATOR_WEBHOOK_URL',
    webhookUrlType,
    '',
    'For an operator outside of the cluster: https URL at which API servers reach this host; the default port is the port of the server. Empty uses the Services.',
  ),
  // Admission and conversion have this many places each.
  webhookMaxRuns: setting(
    'webhook-max-runs',
    'ADDON_OPERATOR_WEBHOOK_MAX_RUNS',
    integerType(1, 10_000),
    '16',
    'Maximum number of hooks that run at the same time for admission requests, and the same number for conversions; further requests wait, each until its own deadline.',
  ),
  // See `webhooks/certificate-secret.ts`.
  webhookSecretName: setting(
    'webhook-certs-secret',
    'ADDON_OPERATOR_WEBHOOK_CERTS_SECRET',
    textType,
    'addon-operator-webhook-certs',
    'Secret with the generated CA and certificate, used if no certificate files are set.',
  ),
  validatingConfigurationName: setting(
    'validating-webhook-configuration-name',
    ownAnd('VALIDATING_WEBHOOK_CONFIGURATION_NAME'),
    textType,
    'shell-operator-hooks',
    'Prefix of the name of the webhook configurations; "-hooks" is appended.',
  ),
  // The admission server. The default files need not exist: without them the operator creates its own certificate.
  validatingServiceName: setting(
    'validating-webhook-service-name',
    ownAnd('VALIDATING_WEBHOOK_SERVICE_NAME'),
    textType,
    'shell-operator-validating-svc',
    'Service of the admission webhooks.',
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
    'Key of this certificate.',
  ),
  validatingCa: setting(
    'validating-webhook-ca',
    ownAnd('VALIDATING_WEBHOOK_CA'),
    textType,
    '/validating-certs/ca.crt',
    'CA of this certificate.',
  ),
  validatingClientCas: setting(
    'validating-webhook-client-ca',
    ownAnd('VALIDATING_WEBHOOK_CLIENT_CA'),
    FILES,
    '',
    'Files with CAs of clients; if set, clients of the admission webhooks must present a certificate.',
  ),
  validatingFailurePolicy: setting(
    'validating-webhook-failure-policy',
    ownAnd('VALIDATING_WEBHOOK_FAILURE_POLICY'),
    textType,
    'Fail',
    'Accepted and ignored: the bindings of hooks set it.',
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
  // The conversion server, with the same settings as the admission server.
  conversionServiceName: setting(
    'conversion-webhook-service-name',
    ownAnd('CONVERSION_WEBHOOK_SERVICE_NAME'),
    textType,
    'shell-operator-conversion-svc',
    'Service of the conversion webhooks.',
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
    'Key of this certificate.',
  ),
  conversionCa: setting(
    'conversion-webhook-ca',
    ownAnd('CONVERSION_WEBHOOK_CA'),
    textType,
    '/conversion-certs/ca.crt',
    'CA of this certificate.',
  ),
  conversionClientCas: setting(
    'conversion-webhook-client-ca',
    ownAnd('CONVERSION_WEBHOOK_CLIENT_CA'),
    FILES,
    '',
    'Files with CAs of clients; if set, clients of the conversion webhooks must present a certificate.',
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

export type WebhookSettings = SettingsOf<typeof WEBHOOK_SETTINGS>;
