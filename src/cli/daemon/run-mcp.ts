import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, parseJson } from '@addon-operator/json';
import { McpSession, type ToolResult } from '../../mcp/mcp-session.ts';
import { serveMcp } from '../../mcp/serve-mcp.ts';
import { type Tool, type ToolArguments, toolsFor } from '../../mcp/tools.ts';
import { requestDebug } from '../../server/debug-client.ts';
import { indexDocs } from '../../server/read-docs.ts';
import type { DocsSearch } from '../../server/search-docs.ts';
import type { CliHost } from '../cli-host.ts';
import { readVersion } from '../version.ts';

export interface RunMcpOptions {
  /** Found anew for each call: the operator may be started, and restarted, while a client is connected. */
  readonly socketPath: () => Promise<string>;
  readonly allowsActions: boolean;
}

/** Serves one client until it closes standard input, and returns the exit code. */
export async function runMcp({ socketPath, allowsActions }: RunMcpOptions, host: CliHost): Promise<number> {
  const { stdin } = host;
  if (stdin === undefined) throw new OperatorError('INTERNAL', 'there is no standard input');
  let docs: Promise<DocsSearch> | undefined;
  const resultOf = async (tool: Tool, args: ToolArguments, signal: AbortSignal): Promise<object> => {
    switch (tool.source.type) {
      case 'operator': {
        const request = {
          socketPath: await socketPath(),
          ...tool.source.request(args),
          client: 'mcp',
        } as const;
        const { status, body } = await requestDebug(request, host.clock, signal);
        if (status >= 400) throw new OperatorError('REQUEST_REFUSED', body);
        return fieldsOf(parseJson(body));
      }
      case 'lint':
        return await lintReport(args, host);
      case 'docs':
        docs ??= indexDocs();
        return { sections: (await docs).search(String(args['query'])) };
    }
  };
  const call = async (tool: Tool, args: ToolArguments, signal: AbortSignal): Promise<ToolResult> => {
    try {
      return { type: 'done', data: fieldsOf(await resultOf(tool, args, signal)) };
    } catch (error) {
      return { type: 'failed', message: messageOf(error) };
    }
  };
  const session = new McpSession({ version: readVersion(), tools: toolsFor(allowsActions), call });
  await serveMcp(session, { input: stdin, write: (line) => void host.stdout.write(line) }, host.stopSignal());
  return 0;
}

/** The report of `module lint -o json`. */
async function lintReport(args: ToolArguments, host: CliHost): Promise<object> {
  const { moduleLintCommand } = await import('../module/module-lint-command.ts');
  let report = '';
  const output = { write: (text: string) => (report += text) };
  const { directory } = args;
  const directories = typeof directory === 'string' ? [directory] : [];
  await moduleLintCommand(
    { directories, output: 'json' },
    { ...host, stdout: output, stderr: { write: () => true } },
  );
  return fieldsOf(parseJson(report));
}
