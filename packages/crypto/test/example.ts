import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { isSignatureOf, parseSignature, signMessage } from '@addon-operator/crypto/ssh-signature';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';

const { privateKey } = generateKeyPairSync('ed25519');
const message = Buffer.from('version 1.2.0\n');
const signature = parseSignature(signMessage(message, privateKey, 'releases'));
console.log(signature.publicKey.type, isSignatureOf(signature, message, 'releases'));
console.log(isSignatureOf(signature, message, 'mail'), isSignatureOf(signature, Buffer.from(''), 'releases'));

const period = { notBeforeMs: Date.now(), notAfterMs: Date.now() + 3_600_000 };
const authority = createAuthority({ commonName: 'example', ...period });
const server = issueCertificate(authority, { commonName: 'web', ...period }, ['web.shop.svc', '10.0.0.1']);
const certificate = new X509Certificate(server.cert);
console.log(certificate.subjectAltName, certificate.verify(new X509Certificate(authority.cert).publicKey));
