import { join } from 'node:path';
import { execa } from 'execa';

/** Paths of PEM files. */
export interface Certificates {
  readonly caFile: string;
  readonly serverCertFile: string;
  readonly serverKeyFile: string;
  /** Client certificate of an administrator (`system:masters`). */
  readonly adminCertFile: string;
  readonly adminKeyFile: string;
  /** Signs service account tokens; tests that forge tokens sign with it. */
  readonly serviceAccountKeyFile: string;
}

interface Issued {
  readonly name: string;
  readonly subject: string;
  readonly extension: string;
}

/** Creates a CA of its own in `directory` and what it signs, with the openssl program. */
export async function createCertificates(directory: string, signal: AbortSignal): Promise<Certificates> {
  const path = (name: string): string => join(directory, name);
  const openssl = async (args: readonly string[]): Promise<void> => {
    await execa('openssl', args, { cwd: directory, stdin: 'ignore', cancelSignal: signal });
  };
  const newCertificate = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30'.split(
    ' ',
  );
  const issue = async ({ name, subject, extension }: Issued): Promise<void> => {
    const signedByCa = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', 'basicConstraints=critical,CA:FALSE'];
    const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
    await openssl([...newCertificate, '-subj', subject, '-addext', extension, ...signedByCa, ...files]);
  };
  await openssl([...newCertificate, '-subj', '/CN=control-plane-ca', '-keyout', 'ca.key', '-out', 'ca.crt']);
  await issue({
    name: 'server',
    subject: '/CN=kube-apiserver',
    extension: 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc',
  });
  await issue({
    name: 'admin',
    subject: '/O=system:masters/CN=admin',
    extension: 'extendedKeyUsage=clientAuth',
  });
  await openssl(['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-out', 'sa.key']);
  return {
    caFile: path('ca.crt'),
    serverCertFile: path('server.crt'),
    serverKeyFile: path('server.key'),
    adminCertFile: path('admin.crt'),
    adminKeyFile: path('admin.key'),
    serviceAccountKeyFile: path('sa.key'),
  };
}
