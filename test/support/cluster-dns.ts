/**
 * Loaded into a daemon with `--import`: resolves the names that the DNS of a cluster has for pods, `….10-0-0-1.ns.pod`,
 * as it would, and those of all Services, `….ns.svc`, to the loopback address, where the servers of tests are.
 */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const { lookup } = dns;
const POD_NAME = /^.*\.(\d+)-(\d+)-(\d+)-(\d+)\.[^.]+\.pod$/;
const SERVICE_NAME = /^[^.]+\.[^.]+\.svc$/;

function lookUp(name: string, ...rest: never[]): void {
  const address = name.replace(POD_NAME, '$1.$2.$3.$4').replace(SERVICE_NAME, '127.0.0.1');
  (lookup as (name: string, ...rest: never[]) => void)(address, ...rest); // whatever of its forms the caller chose
}

dns.lookup = Object.assign(lookUp as typeof lookup, { __promisify__: lookup.__promisify__ });
syncBuiltinESMExports();
