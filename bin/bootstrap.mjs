// What `npm start` and `npm test` run, on any Node from 20 on and before anything is installed: sees to the
// dependencies (the Node that the project needs is one of them) and hands over.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const lockFile = join(root, 'package-lock.json');
const lockHashFile = join(modules, '.lock-hash');
const CHECKS = [
  ['format', 'format:check'],
  ['lint', 'lint'],
  ['types', 'typecheck'],
];
/** Shows the size of the code, and limits nothing. */
const MEASURES = ['measures', 'measures', '--', '--totals'];

/**
 * Runs a program to its end and returns its exit code; signals that reach this process end the child, not the wait, as does
 * `signal`.
 */
async function run(file, args, { env = process.env, onOutput, signal: stop } = {}) {
  const stdio = onOutput === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(file, args, { cwd: root, env, stdio });
  child.stdout?.on('data', onOutput);
  child.stderr?.on('data', onOutput);
  stop?.addEventListener('abort', () => child.kill());
  const forward = (signal) => {
    // A terminal sends Ctrl-C to the child as well, and twice would mean "at once" to it.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
    });
  } finally {
    for (const signal of signals) process.off(signal, forward);
  }
}

function npmCommand(args) {
  const script = process.env.npm_execpath;
  if (script?.endsWith('.js') && existsSync(script)) return [process.execPath, [script, ...args]];
  const beside = join(dirname(process.execPath), 'npm');
  return [existsSync(beside) ? beside : 'npm', args];
}

function lockHash() {
  return createHash('sha256').update(readFileSync(lockFile)).digest('hex');
}

function isInstalled() {
  if (existsSync(lockHashFile)) return readFileSync(lockHashFile, 'utf8') === lockHash();
  // Installed by hand: npm's own record of what it installed is as new as the lock file.
  const record = join(modules, '.package-lock.json');
  if (!existsSync(record) || statSync(record).mtimeMs < statSync(lockFile).mtimeMs) return false;
  writeFileSync(lockHashFile, lockHash());
  return true;
}

async function install() {
  if (isInstalled()) return;
  const startedMs = Date.now();
  console.log('Installing dependencies (npm ci) ...');
  const args = ['ci', '--loglevel=error', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const code = await run(...npmCommand(args));
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}`);
  writeFileSync(lockHashFile, lockHash());
  console.log(`Dependencies installed in ${seconds(startedMs)}`);
}

/** The Node that came with the dependencies, else the one running this if it is new enough. */
function findNode() {
  const packages = readdirSync(modules).filter((name) => name.startsWith('node-'));
  const candidates = [join(modules, '.bin/node'), ...packages.map((name) => join(modules, name, 'bin/node'))];
  const found = candidates.find((file) => existsSync(file));
  if (found !== undefined) return found;
  if (Number.parseInt(process.versions.node, 10) >= 24) return process.execPath;
  throw new Error(
    `Node 24 or newer is needed, this is ${process.version}, and npm has none for ${process.platform}/${process.arch}: install Node 24`,
  );
}

function seconds(sinceMs) {
  return `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`;
}

/** Environment in which `node` is the right one for everything that is started. */
function projectEnv(node) {
  return { ...process.env, PATH: [join(modules, '.bin'), dirname(node), process.env.PATH].join(delimiter) };
}

async function start(args) {
  const node = findNode();
  const env = { ...projectEnv(node), ADDON_OPERATOR_NODE: node };
  return await run(join(root, 'bin/addon-operator'), ['sandbox', ...args], { env });
}

/**
 * Runs the checks at the same time, because each has moments in which it uses one core. Prints their results in order, and
 * returns how many have failed.
 */
async function failedChecks(env) {
  const running = [...CHECKS, MEASURES].map(async ([name, script, ...args]) => {
    const startedMs = Date.now();
    const output = [];
    const command = npmCommand(['run', '--silent', script, ...args]);
    const code = await run(...command, { env, onOutput: (chunk) => output.push(chunk) });
    return { name, script, code, output: Buffer.concat(output), took: seconds(startedMs) };
  });
  let failed = 0;
  for (const { name, script, code, output, took } of await Promise.all(running)) {
    if (code === 0 && script === MEASURES[1]) process.stdout.write(output);
    else if (code === 0) console.log(`check ${name}: ok (${took})`);
    else {
      failed += 1;
      process.stdout.write(output);
      console.log(`check ${name}: failed (npm run ${script})`);
    }
  }
  return failed;
}

async function test(args) {
  const node = findNode();
  const env = projectEnv(node);
  const stop = new AbortController();
  // With arguments a few tests are meant, and those that need tools fetch them.
  const tools =
    args.length === 0
      ? run(node, [join(root, 'test/support/prepare-tools.ts')], { env, signal: stop.signal })
      : undefined;
  const failed = await failedChecks(env);
  if (failed > 0) stop.abort();
  await tools;
  if (failed > 0) {
    console.log(`\n0 passed, ${failed} failed, 0 skipped`);
    return 1;
  }
  return await run(node, [join(modules, 'vitest/vitest.mjs'), 'run', ...args], { env });
}

const COMMANDS = { start, test };
const [name, ...args] = process.argv.slice(2);
const command = COMMANDS[name];
if (command === undefined) {
  console.error(`usage: node bin/bootstrap.mjs ${Object.keys(COMMANDS).join('|')} [args]`);
  process.exit(2);
}
try {
  await install();
  process.exitCode = await command(args);
} catch (error) {
  console.error(`addon-operator: ${error.message}`);
  if (command === test) console.log('\n0 passed, 1 failed, 0 skipped');
  process.exitCode = 1;
}
