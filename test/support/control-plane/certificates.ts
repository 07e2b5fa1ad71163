import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CertifiedKey,
  createAuthority,
  issueCertificate,
} from '@addon-operator/crypto/x509-certificate';
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

/** Paths of the PEM files of one certificate. */
export interface IssuedCertificate {
  readonly certFile: string;
  readonly keyFile: string;
}

interface Request {
  /** Of the files. */
  readonly name: string;
  /** As openssl writes it: `/O=system:masters/CN=admin`. */
  readonly subject: string;
  readonly extensions: readonly string[];
}

/** When a certificate is valid that is older than its cluster, as most are. */
export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

const NEW_CERTIFICATE = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30'.split(
  ' ',
);

/** A certificate authority of its own in a directory; it signs with the openssl program. */
export class CertificateAuthority {
  readonly caFile: string;
  readonly #directory: string;
  readonly #signal: AbortSignal;

  private constructor(directory: string, signal: AbortSignal) {
    this.#directory = directory;
    this.#signal = signal;
    this.caFile = join(directory, 'ca.crt');
  }

  static async create(directory: string, signal: AbortSignal): Promise<CertificateAuthority> {
    const authority = new CertificateAuthority(directory, signal);
    const files = ['-keyout', 'ca.key', '-out', 'ca.crt'];
    await authority.#openssl([...NEW_CERTIFICATE, '-subj', '/CN=control-plane-ca', ...files]);
    return authority;
  }

  /** As {@link create}, valid from another time on, which openssl does not offer. */
  static async createValid(
    directory: string,
    validity: Validity,
    signal: AbortSignal,
  ): Promise<CertificateAuthority> {
    const authority = new CertificateAuthority(directory, signal);
    await authority.#write('ca', createAuthority({ commonName: 'control-plane-ca', ...validity }));
    return authority;
  }

  /** The certificate of a server, valid from another time on. */
  async issueServer(name: string, hosts: readonly string[], validity: Validity): Promise<IssuedCertificate> {
    const [cert, key] = await Promise.all(
      ['ca.crt', 'ca.key'].map(async (file) => await readFile(join(this.#directory, file), 'utf8')),
    );
    const authority = { cert: cert ?? '', key: key ?? '' };
    return await this.#write(name, issueCertificate(authority, { commonName: name, ...validity }, hosts));
  }

  async issue({ name, subject, extensions }: Request): Promise<IssuedCertificate> {
    const signedByCa = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', 'basicConstraints=critical,CA:FALSE'];
    const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
    const added = extensions.flatMap((extension) => ['-addext', extension]);
    await this.#openssl([...NEW_CERTIFICATE, '-subj', subject, ...added, ...signedByCa, ...files]);
    return this.#filesOf(name);
  }

  /** The path of a new key that signs the tokens of service accounts. */
  async createServiceAccountKey(): Promise<string> {
    await this.#openssl([
      'genpkey',
      '-algorithm',
      'RSA',
      '-pkeyopt',
      'rsa_keygen_bits:2048',
      '-out',
      'sa.key',
    ]);
    return join(this.#directory, 'sa.key');
  }

  #filesOf(name: string): IssuedCertificate {
    return { certFile: join(this.#directory, `${name}.crt`), keyFile: join(this.#directory, `${name}.key`) };
  }

  async #write(name: string, { cert, key }: CertifiedKey): Promise<IssuedCertificate> {
    const files = this.#filesOf(name);
    await writeFile(files.certFile, cert);
    await writeFile(files.keyFile, key, { mode: 0o600 });
    return files;
  }

  async #openssl(args: readonly string[]): Promise<void> {
    await execa('openssl', args, { cwd: this.#directory, stdin: 'ignore', cancelSignal: this.#signal });
  }
}

/** Creates a CA of its own in `directory` and the certificates of a control plane. */
export async function createCertificates(directory: string, signal: AbortSignal): Promise<Certificates> {
  const authority = await CertificateAuthority.create(directory, signal);
  const server = await authority.issue({
    name: 'server',
    subject: '/CN=kube-apiserver',
    extensions: ['subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc'],
  });
  const admin = await authority.issue({
    name: 'admin',
    subject: '/O=system:masters/CN=admin',
    extensions: ['extendedKeyUsage=clientAuth'],
  });
  return {
    caFile: authority.caFile,
    serverCertFile: server.certFile,
    serverKeyFile: server.keyFile,
    adminCertFile: admin.certFile,
    adminKeyFile: admin.keyFile,
    serviceAccountKeyFile: await authority.createServiceAccountKey(),
  };
}
