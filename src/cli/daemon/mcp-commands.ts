import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import { addSettingOption } from '../operator/setting-options.ts';
import { type CommandParts, socketPathOf } from './debug-command.ts';

/** Adds `mcp`. */
export function addMcpCommand(program: Command, { host, runner }: CommandParts): void {
  const mcp = program
    .command('mcp')
    .summary('Let assistants ask the operator')
    .description(
      'Serve the Model Context Protocol on standard input and output: tools that explain a running operator, check modules and search the documentation. Secrets are masked',
    )
    .option('--allow-actions', 'also tools that run, abort, pause and resume modules')
    .addHelpText('after', '\nIn a client: {"command": "addon-operator", "args": ["mcp"]}; see docs/mcp.md');
  addSettingOption(mcp, SETTINGS.debugUnixSocket);
  mcp.action(() =>
    runner(async () => {
      const { runMcp } = await import('./run-mcp.ts');
      return await runMcp(
        { socketPath: () => socketPathOf(mcp, host), allowsActions: mcp.opts()['allowActions'] === true },
        host,
      );
    }),
  );
}
