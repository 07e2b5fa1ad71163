import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestPolicy, lockText } from '@addon-operator/module-authorization/digest-policy';
import { ModuleAuthorization } from '@addon-operator/module-authorization/module-authorization';
import { readCandidate } from '@addon-operator/module-authorization/read-candidate';

const place = await mkdtemp(join(tmpdir(), 'modules-'));
const [web, copies, lockFile] = [join(place, 'web'), join(place, 'copies'), join(place, 'modules.lock')];
const { signal } = new AbortController();
for (const directory of [web, copies]) await mkdir(directory);
await writeFile(join(web, 'values.yaml'), 'replicas: 1\n');
const { digest } = await (await readCandidate('web', web, {}, signal)).content();
await writeFile(lockFile, lockText(new Map([['web', digest]])));

const gate = new ModuleAuthorization({ policy: digestPolicy(lockFile), directory: copies, signal });
gate.begin();
console.log((await gate.admit('web', web)).type);
await writeFile(join(web, 'values.yaml'), 'replicas: 2\n');
const changed = await gate.admit('web', web);
console.log(
  changed.type === 'refused' && changed.reason.replace(/sha256:\w+/g, 'sha256:…').replace(place, ''),
);
await rm(place, { recursive: true });
